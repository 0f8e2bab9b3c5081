//! What judges see of the material, and what they must not make replies of.

use super::planted_verdicts::PlantedContent;
use super::reply_schema::AnswerSchema;
use crate::candidate::{
    CandidatePart, JudgeInput, StepRole, TRACE_TOKENS, Trace, TraceStep, render_trace_for_judge,
};
use crate::grade::RENDERED_TRACE;

impl JudgeInput {
    /// The texts that may be quoted: every part, and last the steps as a judge reads them, with their marks.
    pub fn quotable(&self) -> Vec<CandidatePart> {
        let mut parts = self.parts();
        // What somebody else said is left out; the number of each step stays.
        let own = |step: &TraceStep| match step.role {
            StepRole::User | StepRole::System => TraceStep::new(step.role, ""),
            StepRole::Assistant | StepRole::Tool | StepRole::Other => step.clone(),
        };
        if let Some(trace) = &self.trace {
            let steps = trace.steps.iter().map(own).collect();
            let text = render_trace_for_judge(&Trace { steps, ..Trace::default() }, TRACE_TOKENS);
            parts.push(CandidatePart { name: RENDERED_TRACE.to_owned(), text });
        }
        parts
    }

    /// The trace as a judge reads it.
    pub(super) fn trace_text(&self) -> Option<String> {
        self.trace.as_ref().map(|trace| render_trace_for_judge(trace, TRACE_TOKENS))
    }

    /// The code of the tags around data: a hash over the seed and what prompts show before the candidate, which does not
    /// occur in the input.
    ///
    /// It is the same for every criterion and for all candidates of one task, so that their prompts begin with the same
    /// text and caches of vendors work. If the input contains it, the code is a hash over all of the input.
    /// ARCHITECTURE.md says why it is a hash.
    pub(super) fn code(&self, others: &[&str], seed: u64) -> String {
        let mut shared = vec![self.task.as_str()];
        shared.extend(self.context.iter().map(String::as_str));
        shared.extend(self.reference.as_deref());
        let trace = self.trace_text().unwrap_or_default();
        let mut all = shared.clone();
        all.extend_from_slice(others);
        all.extend([&self.response, &self.diff].into_iter().flatten().map(String::as_str));
        all.push(&trace);
        (0_u64..)
            .map(|turn| {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&seed.to_le_bytes()).update(&turn.to_le_bytes());
                let texts = if turn == 0 { &shared } else { &all };
                for text in texts {
                    // Lengths, so that moving a word from one part to the next is another material.
                    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
                }
                hasher.finalize().to_hex()[..16].to_owned()
            })
            .find(|code| !all.iter().any(|text| text.contains(code)))
            .unwrap_or_default()
    }

    /// The same for materials in which a judge sees the same.
    pub fn fingerprint(&self) -> String {
        let trace = self.trace_text().unwrap_or_default();
        let own = [&self.reference, &self.response, &self.diff].into_iter().flatten().map(String::as_str);
        let context = self.context.iter().chain(&self.requirements).map(String::as_str);
        let mut hasher = blake3::Hasher::new();
        for text in [self.task.as_str(), trace.as_str()].into_iter().chain(own).chain(context) {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        // That one is missing and that it is empty are two things.
        let present = [&self.reference, &self.response, &self.diff].map(|text| u8::from(text.is_some()));
        hasher.update(&present).finalize().to_hex().to_string()
    }

    /// The same for materials that are the same in every part, also in what no judge sees.
    pub fn whole_fingerprint(&self) -> String {
        let text = serde_json::to_vec(self).expect("a material is plain data");
        blake3::hash(&text).to_hex().to_string()
    }

    /// What a reply must not be made of, also in the author's own shape if there is one.
    pub(super) fn collect_planted_content(
        &self,
        others: &[&str],
        own_shape: &[(String, AnswerSchema)],
    ) -> PlantedContent {
        // Of a trace, the judge also reads names of agents and of results, which are in no part.
        let (parts, trace_text) = (self.quotable(), self.trace_text());
        let own = [Some(&self.task), self.reference.as_ref()].into_iter().flatten().map(String::as_str);
        let steps = self.trace.iter().flat_map(|trace| &trace.steps).map(|step| step.text.as_str());
        let texts =
            own.chain(self.context.iter().map(String::as_str)).chain(steps).chain(trace_text.as_deref());
        let candidate = parts.iter().map(|part| part.text.as_str());
        let others: Vec<&str> = others.iter().copied().chain(texts).collect();
        let mut planted = PlantedContent::new(candidate.clone(), others.iter().copied());
        if !own_shape.is_empty() {
            candidate.chain(others).for_each(|text| planted.add_own_shape(text, own_shape));
        }
        planted
    }
}
