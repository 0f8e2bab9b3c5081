//! Stores new grades and verdicts with their tallies, in one transaction.

use std::collections::BTreeMap;

use crate::db::{args, statements};
use crate::grades::{ADD, ADD_DETAILS, ADD_VERDICTS, NewGrade, NewVerdict, read_grade_ids};
use crate::pack::pack;
use crate::{GradeId, ProjectId, Store, StoreError, tallies};

/// Numbers of new rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded {
    pub n_grades: usize,
    pub n_verdicts: usize,
}

statements! {
    SCORE_TRACE = "UPDATE traces SET score = $3, scored = $4
        WHERE project = $1 AND id = $2 AND (scored IS NULL OR scored <= $4)";
}

impl Store {
    /// Adds grades and verdicts, all or none, and counts those that are new.
    pub async fn record(
        &self,
        project: ProjectId,
        grades: &[NewGrade],
        verdicts: &[NewVerdict],
    ) -> Result<Recorded, StoreError> {
        // Sorted by id, so that two transactions lock rows in the same order and do not deadlock.
        let grades: BTreeMap<GradeId, &NewGrade> =
            grades.iter().map(|grade| (grade.id(project), grade)).collect();
        let verdicts: BTreeMap<GradeId, &NewVerdict> =
            verdicts.iter().map(|verdict| (verdict.id(project), verdict)).collect();
        let mut tx = self.db.begin().await?;
        let rows = grades.iter().map(|(id, grade)| grade.args(id, project)).collect();
        let new = read_grade_ids(&tx.insert(ADD, rows).await?)?;
        let new_grades: Vec<&NewGrade> = new.iter().filter_map(|id| grades.get(id).copied()).collect();
        let detail = |id: &GradeId| {
            let grade = &grades.get(id)?.grade;
            let body = pack(&serde_json::to_vec(grade).expect("a grade is plain data"));
            Some(args![id, project, &grade.candidate, body])
        };
        tx.insert(ADD_DETAILS, new.iter().filter_map(detail).collect()).await?;
        tx.insert(tallies::ADD_GRADES, tallies::of_grades(project, &new_grades)).await?;
        let rows = verdicts.iter().map(|(id, verdict)| verdict.args(id, project)).collect();
        let new = read_grade_ids(&tx.insert(ADD_VERDICTS, rows).await?)?;
        let new_verdicts: Vec<&NewVerdict> = new.iter().filter_map(|id| verdicts.get(id).copied()).collect();
        tx.insert(tallies::ADD_VERDICTS, tallies::of_verdicts(project, &new_verdicts)).await?;
        let mut of_traces = new_verdicts.clone();
        of_traces.sort_by_key(|new_verdict| (&new_verdict.candidate, new_verdict.time));
        for it in of_traces {
            let score = it.verdict.score.filter(|score| score.is_finite());
            tx.execute(SCORE_TRACE, args![project, &it.candidate, score, it.time]).await?;
        }
        tx.commit().await?;
        Ok(Recorded { n_grades: new_grades.len(), n_verdicts: new_verdicts.len() })
    }
}
