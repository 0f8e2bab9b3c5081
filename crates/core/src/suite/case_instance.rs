//! The single cases that one case is expanded to: rows, prompts, targets and judge models.

use std::sync::Arc;

use serde_json::Value;

use super::row_template::rubric_templates;
use super::stored_output::with_stored_outputs;
use super::{
    Case, CaseMatrix, CaseNameParts, CaseOrigin, CompactRow, DataRow, Judge, MatrixPrompt, Unfilled, fill,
};
use crate::candidate::TraceSource;
use crate::template::try_for_each_text;

impl Case {
    /// Expands the case to single ones: rows × prompts × targets × judge models, in that order.
    pub fn expand(&self) -> Vec<CaseInstance> {
        let rows: Vec<Option<(usize, &CompactRow)>> = match &self.data {
            Some(data) => data.rows.iter().enumerate().map(Some).collect(),
            None => vec![None],
        };
        let template = Arc::new(self.without_data());
        // A recorded response needs no target.
        let n_targets = if self.candidate.is_given() { 0 } else { self.targets.len() };
        let mut cells = Vec::new();
        for row in rows {
            for prompt in axis(self.matrix.prompts.len()) {
                for target in axis(n_targets) {
                    for model in axis(self.matrix.models.len()) {
                        let row = row.map(|(at, row)| InstanceRow {
                            at,
                            row: row.clone(),
                            file: self.data.as_ref().and_then(|data| data.file_of(at)).cloned(),
                        });
                        let template = Arc::clone(&template);
                        cells.push(CaseInstance { template, row, prompt, target, model, outputs: None });
                    }
                }
            }
        }
        cells
    }

    /// The rows stay behind: copying them into every case would cost the square of their number.
    pub(super) fn without_data(&self) -> Self {
        Self {
            name: self.name.clone(),
            origin: self.origin.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            metadata: self.metadata.clone(),
            candidate: self.candidate.clone(),
            server: self.server.clone(),
            targets: self.targets.clone(),
            agent: self.agent.clone(),
            workspace: self.workspace.clone(),
            rubric: Arc::clone(&self.rubric),
            judge: self.judge.clone(),
            matrix: self.matrix.clone(),
            data: None,
            labels: self.labels.clone(),
            repeat: self.repeat,
            store_output_as: self.store_output_as.clone(),
        }
    }

    /// Texts of the rubric that rows fill in when a judge is asked.
    pub fn templates(&self) -> Vec<&str> {
        rubric_templates(&self.rubric)
    }

    /// The case as its row makes it.
    fn fill_from_row(&self, row: Option<&DataRow>) -> Result<Self, Unfilled> {
        let mut case = self.clone();
        case.try_for_each_template(&mut |text| {
            if text.contains("{{") {
                *text = fill(text, row)?;
            }
            Ok(())
        })?;
        Ok(case)
    }

    /// Calls `each` with every text of its own in which rows fill in names; the first error ends it.
    pub(crate) fn try_for_each_template<E>(
        &mut self,
        each: &mut impl FnMut(&mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        let candidate = &mut self.candidate;
        let single =
            [&mut candidate.input, &mut candidate.response, &mut candidate.diff].into_iter().flatten();
        let prompts = self.matrix.prompts.iter_mut().map(|prompt| &mut prompt.text);
        let lists = candidate.context.iter_mut().chain(prompts).chain([&mut self.name]);
        single.chain(lists).try_for_each(&mut *each)?;
        for value in candidate.messages.iter_mut().chain(&mut candidate.expected) {
            try_for_each_text(value, each)?;
        }
        if let Some(output) = &mut candidate.output {
            try_for_each_text(output, each)?;
            candidate.response = Some(output.to_string());
        }
        match &mut candidate.trace {
            Some(TraceSource::File(path)) => each(path),
            Some(TraceSource::Inline(value)) => try_for_each_text(value, each),
            None => Ok(()),
        }
    }
}

/// A single case. Its texts are filled in when they are requested, so that a plan of many rows needs memory for the
/// rows only.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseInstance {
    template: Arc<Case>,
    row: Option<InstanceRow>,
    prompt: Option<usize>,
    target: Option<usize>,
    model: Option<usize>,
    /// Outputs of other cases, by the names under which they are stored.
    outputs: Option<Arc<DataRow>>,
}

/// A case with everything filled in, and the parts of its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedInstance {
    pub case: Case,
    pub parts: CaseNameParts,
}

/// The row of a case.
#[derive(Debug, Clone)]
struct InstanceRow {
    /// Which row, from 0.
    at: usize,
    row: CompactRow,
    /// The data file that holds it.
    file: Option<Arc<str>>,
}

/// Equal rows are equal whatever file they are from.
impl PartialEq for InstanceRow {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.row == other.row
    }
}

impl CaseInstance {
    /// A case without rows or axes.
    pub fn alone(case: Case) -> Self {
        Self { template: Arc::new(case), row: None, prompt: None, target: None, model: None, outputs: None }
    }

    /// The case with everything filled in.
    pub fn case(&self) -> Result<Case, Unfilled> {
        self.fill_named().map(|named| named.case)
    }

    /// The case with everything filled in, and the parts of its name.
    pub fn fill_named(&self) -> Result<NamedInstance, Unfilled> {
        let mut case = self.template.fill_from_row(self.row().as_ref())?;
        let row = self.row_number().map(|row| u32::try_from(row).unwrap_or(u32::MAX));
        let mut variant = Vec::new();
        if let Some(at) = self.prompt {
            let MatrixPrompt { label, text } = case.matrix.prompts.swap_remove(at);
            case.candidate.set_prompt(text);
            let name = label.clone().unwrap_or_else(|| format!("prompt {}", at + 1));
            variant.push(name);
            let prompt_name = label.map_or_else(|| Value::from(at + 1), Value::from);
            case.metadata.entry("prompt").or_insert(prompt_name);
        }
        let has_alternatives = 1 < case.targets.len();
        case.targets = self.target.map(|at| case.targets.swap_remove(at)).into_iter().collect();
        if let Some(target) = case.targets.first().filter(|_| has_alternatives) {
            variant.push(target.name().to_owned());
        }
        if let Some(at) = self.model {
            let model = case.matrix.models.swap_remove(at);
            variant.push(model.clone());
            // A live run without a model of its own is the judge's.
            if case.server.is_some() {
                case.agent.model.get_or_insert_with(|| model.clone());
            }
            case.judge.model = Some(model);
        }
        case.matrix = CaseMatrix::default();
        // Programs get stored outputs as variables.
        case.candidate.vars.extend(self.outputs.iter().flat_map(|outputs| DataRow::clone(outputs)));
        let parts = CaseNameParts { written: case.name, row, variant };
        case.name = parts.join();
        Ok(NamedInstance { case, parts })
    }

    /// What does not change from row to row: rubric, judge, labels, limits.
    pub fn template(&self) -> &Case {
        &self.template
    }

    /// Fills `{{ row.field }}` and `{{ outputs.NAME }}` in the rubric's texts when a judge is asked.
    pub fn row(&self) -> Option<DataRow> {
        let row = self.row.as_ref().map(|instance| instance.row.read());
        match &self.outputs {
            Some(outputs) => Some(with_stored_outputs(row.unwrap_or_default(), DataRow::clone(outputs))),
            None => row,
        }
    }

    /// The same with outputs of other cases, by the names under which they are stored.
    #[must_use]
    pub fn with_outputs(&self, outputs: DataRow) -> Self {
        Self { outputs: Some(Arc::new(outputs)), ..self.clone() }
    }

    /// What distinguishes it from the other cells of its case: row, prompt, target and judge model, each by a name that
    /// cells of other cases may have too. A target or model that is the only one has its name as well.
    pub fn axes(&self) -> [Option<String>; 4] {
        let prompt = self.prompt.map(|at| {
            let label = self.template.matrix.prompts[at].label.clone();
            label.unwrap_or_else(|| (at + 1).to_string())
        });
        let target = self.target.map(|at| self.template.targets[at].name().to_owned());
        let model = self.model.map(|at| self.template.matrix.models[at].clone());
        [self.row_number().map(|row| row.to_string()), prompt, target, model]
    }

    /// Which row it is, from 1.
    pub fn row_number(&self) -> Option<usize> {
        self.row.as_ref().map(|instance| instance.at + 1)
    }

    /// Where the case is written: its row in a data file, or else its entry in the suite.
    pub fn origin(&self) -> Option<CaseOrigin> {
        let of_row = self.row.as_ref().and_then(|instance| {
            let file = instance.file.as_ref()?.to_string();
            let suite = self.template.origin.as_ref().map(|origin| origin.suite_file().to_owned());
            Some(CaseOrigin { file, line: instance.row.line, suite })
        });
        of_row.or_else(|| self.template.origin.clone())
    }

    /// Who judges it.
    pub fn judge(&self) -> Judge {
        let model = self.model.map(|index| self.template.matrix.models[index].clone());
        Judge { model: model.or_else(|| self.template.judge.model.clone()), ..self.template.judge.clone() }
    }

    /// The same for all that do one task: rows and judges differ, targets and prompts need not.
    pub fn task(&self) -> String {
        let row = self.row.as_ref().map_or(0, |instance| instance.at);
        let model = self.model.map_or("", |index| &self.template.matrix.models[index]);
        format!("{} {row} {model}", self.template.name)
    }
}

/// The places of an axis; an empty one has one.
fn axis(n: usize) -> Vec<Option<usize>> {
    if n == 0 { vec![None] } else { (0..n).map(Some).collect() }
}
