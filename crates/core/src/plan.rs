//! Suite to units: what will run, in a fixed order, and what it may cost.

mod sampling;
mod stored_outputs;

use std::collections::{HashMap, HashSet};

use crate::quantity::plural;
use crate::rubric::{AnswerTarget, Criterion, CriterionKind, GraderKind, Graph, NodeAnswers, Rubric};
use crate::run::name_trial;
use crate::suite::{Calls, Case, CaseInstance, CaseNameParts, Judge, NamedInstance, Suite, Unfilled, fill};

pub use crate::run::CallRange;
pub use crate::suite::next_time;
pub use sampling::{
    SamplingDecision, TraceFacts, TraceStratum, hash_position, pick_trace, stratum_sample_rate,
};
pub use stored_outputs::{NeededOutput, group_linked_units};
use stored_outputs::{add_producers, link_stored_outputs, select_tagged_cases};

/// What will run, in the order in which it is reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub units: Vec<PlanUnit>,
}

/// How many judge calls units take, in a line for people; `None` where no judge is asked.
pub fn projected_calls<'a>(units: impl ExactSizeIterator<Item = &'a PlanUnit> + Clone) -> Option<String> {
    let calls = units.clone().fold(CallRange::default(), |sum, unit| sum.plus(unit.calls));
    if calls.most == 0 {
        return None;
    }
    let mut factors = vec![plural(units.len(), "case")];
    let questions = common_value(units.clone().map(PlanUnit::n_judge_questions));
    factors
        .extend(questions.map(|n| if n == 1 { "1 criterion".to_owned() } else { format!("{n} criteria") }));
    let judges = common_value(units.map(|unit| n_members(&unit.cell.judge())));
    factors.extend(judges.filter(|n| 1 < *n).map(|n| format!("{n} judges")));
    Some(format!("{}: {calls}", factors.join(" × ")))
}

/// The value that all of them have.
fn common_value<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// One candidate before its judges, once.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanUnit {
    /// The case's name with its row, prompt, model and trial; unique in the plan.
    pub name: String,
    /// The same without its trial.
    pub base: String,
    /// Parts of the name; `None` if the name is as it is written.
    pub parts: Option<CaseNameParts>,
    pub cell: CaseInstance,
    /// From 1.
    pub trial: u32,
    pub calls: CallRange,
    /// Outputs of other units that it uses; these units come before it in the plan.
    pub needed_outputs: Vec<NeededOutput>,
}

impl PlanUnit {
    /// Criteria that compare it with its siblings, each with what it says.
    pub fn contests(&self) -> Vec<(String, String)> {
        let of = |question: crate::rubric::Question<'_>| match &question.criterion.ask {
            CriterionKind::Recipe(method) if method.entry.name == "select-best" => {
                let text = method.params.get("value").and_then(serde_json::Value::as_str);
                Some((question.id(), text.unwrap_or_default().to_owned()))
            }
            _ => None,
        };
        self.cell.template().rubric.questions().filter_map(of).collect()
    }

    /// Whether it is graded together with the other outputs of its task.
    pub fn is_compared(&self) -> bool {
        self.cell.template().rubric.questions().any(|question| question.criterion.is_comparison())
    }

    /// Questions that a judge may be asked; each node of a tree is one.
    fn n_judge_questions(&self) -> usize {
        let questions = self.cell.template().rubric.questions();
        let is_for_judge = |criterion: &Criterion| {
            criterion.by.contains(&GraderKind::Judge) && !matches!(criterion.ask, CriterionKind::Check(_))
        };
        questions.filter(|question| is_for_judge(question.criterion)).count()
    }

    /// What selects it: its own name, the name without its trial, and the name of its case as written.
    pub fn all_names(&self) -> [&str; 3] {
        [&self.name, &self.base, &self.cell.template().name]
    }

    /// Its trial, where there are several.
    pub fn trial_if_repeated(&self) -> Option<u32> {
        (1 < self.cell.template().repeat).then_some(self.trial)
    }
}

/// Which part of a suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseSelection {
    /// Part of a case's name, whatever its case.
    pub filter: Option<String>,
    /// Any of these.
    pub tags: Vec<String>,
    /// The i-th of n parts, from 1.
    pub shard: Option<(u32, u32)>,
    /// Only units of these names; the name of a case selects all its rows and trials.
    pub names: Option<Vec<String>>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoPlan {
    #[error("`{case}`, row {row}: {error}")]
    Row { case: String, row: usize, error: Unfilled },
    #[error("the suite has no cases")]
    Empty,
    #[error("`{case}` uses the output `{output}`, which no case before it stores")]
    OutputNotStored { case: String, output: String },
    #[error(
        "`{case}` uses the output `{output}`, which several units store: {}; give both cases the same rows, prompts, \
         targets and trials, or store it in a case that has one of them", .producers.join(", ")
    )]
    SeveralOutputs { case: String, output: String, producers: Vec<String> },
    #[error("no case is left after the selection; the suite has {0}")]
    NothingSelected(String),
}

/// Everything a suite asks for, of the part that is selected.
pub fn plan_suite(suite: &Suite, select: &CaseSelection) -> Result<Plan, NoPlan> {
    if suite.cases.is_empty() {
        return Err(NoPlan::Empty);
    }
    let mut units = Vec::new();
    for case in select_tagged_cases(suite, &select.tags) {
        let templates = case.templates();
        for cell in case.expand() {
            // Filled once to know its name, and that every field it names is there.
            let filled = cell.fill_named().and_then(|filled| {
                if let Some(row) = cell.row().filter(|_| !templates.is_empty()) {
                    templates.iter().try_for_each(|text| fill(text, Some(&row)).map(drop))?;
                }
                Ok(filled)
            });
            let row = cell.row_number().unwrap_or_default();
            let NamedInstance { case: filled, parts } =
                filled.map_err(|error| NoPlan::Row { case: case.name.clone(), row, error })?;
            let is_as_written = case.repeat <= 1 && filled.name == parts.written;
            let parts = (!is_as_written).then_some(parts);
            let calls = estimate_judge_calls(&case.rubric, &filled.judge);
            for trial in 1..=case.repeat.max(1) {
                let name = match case.repeat {
                    0 | 1 => filled.name.clone(),
                    n => name_trial(&filled.name, trial, n),
                };
                let (base, parts, cell) = (filled.name.clone(), parts.clone(), cell.clone());
                let needed_outputs = Vec::new();
                units.push(PlanUnit { name, base, parts, cell, trial, calls, needed_outputs });
            }
        }
    }
    link_stored_outputs(&mut units)?;
    let units = select_groups(units, select);
    if units.is_empty() {
        let names: Vec<&str> = suite.cases.iter().take(20).map(|case| case.name.as_str()).collect();
        return Err(NoPlan::NothingSelected(names.join(", ")));
    }
    Ok(Plan { units })
}

/// Outputs that are compared with each other are selected together: among fewer outputs, another one would win. Units
/// whose outputs are used are selected as well.
fn select_groups(units: Vec<PlanUnit>, select: &CaseSelection) -> Vec<PlanUnit> {
    if select.filter.is_none() && select.names.is_none() && select.shard.is_none() {
        return units;
    }
    let text = select.filter.as_ref().map(|text| text.to_lowercase());
    let names: Option<HashSet<&str>> =
        select.names.as_ref().map(|names| names.iter().map(String::as_str).collect());
    let is_wanted = |unit: &PlanUnit| {
        text.as_ref().is_none_or(|text| unit.name.to_lowercase().contains(text))
            && names.as_ref().is_none_or(|names| unit.all_names().iter().any(|name| names.contains(name)))
    };
    let groups = group_compared(units.iter());
    let wanted = groups.iter().filter(|group| group.iter().any(|at| is_wanted(&units[*at])));
    let wanted: HashSet<usize> = wanted.flatten().copied().collect();
    let wanted = add_producers(&units, &groups, wanted);
    let units = keep_places(units, &wanted);
    let Some((part, n_parts)) = select.shard else { return units };
    let groups = group_linked_units(units.iter()).into_iter();
    let of_part = groups.skip(part as usize - 1).step_by(n_parts as usize).flatten().collect();
    keep_places(units, &of_part)
}

fn keep_places(units: Vec<PlanUnit>, places: &HashSet<usize>) -> Vec<PlanUnit> {
    units.into_iter().enumerate().filter(|(at, _)| places.contains(at)).map(|(_, unit)| unit).collect()
}

/// Places of units, in one group if they are compared with each other.
pub fn group_compared<'a>(units: impl Iterator<Item = &'a PlanUnit>) -> Vec<Vec<usize>> {
    let (mut groups, mut by_task) = (Vec::<Vec<usize>>::new(), HashMap::new());
    for (at, unit) in units.enumerate() {
        if !unit.is_compared() {
            groups.push(vec![at]);
            continue;
        }
        let group = *by_task.entry((unit.cell.task(), unit.trial)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(at);
    }
    groups
}

fn is_tagged(case: &Case, tags: &[String]) -> bool {
    tags.is_empty() || case.tags.iter().any(|tag| tags.contains(tag))
}

/// How many judges answer every question.
fn n_members(judge: &Judge) -> u32 {
    match (&judge.jury, judge.panel.len()) {
        (Some(jury), _) => jury.size,
        (None, 0) => 1,
        (None, n) => n as u32,
    }
}

/// A reply that is not understood is asked for once more.
const TURNS: u32 = 2;

/// Judge calls for one candidate; calls that are made again because a server failed come on top.
pub fn estimate_judge_calls(rubric: &Rubric, judge: &Judge) -> CallRange {
    let n_members = n_members(judge);
    let mut sum = CallRange::default();
    let mut n_plain = 0;
    // Each judge is asked about its own criteria in one call.
    let mut joint_judges = HashSet::new();
    visit_leaf_criteria(&rubric.criteria, false, &mut |criterion, may_skip| {
        let (least, most) = match &criterion.ask {
            _ if !criterion.by.contains(&GraderKind::Judge) => (0, 0),
            CriterionKind::Tree(graph) => path_lengths(graph),
            CriterionKind::Recipe(method) if method.entry.name == "g-eval" => (2, 2),
            CriterionKind::Question(_) if judge.calls == Some(Calls::PerRubric) => {
                n_plain += 1;
                let own = judge.criteria.get(&criterion.id);
                joint_judges.insert(own.map(|own| (own.model.as_deref(), own.base_url.as_deref())));
                (0, 0)
            }
            CriterionKind::Question(_) | CriterionKind::Recipe(_) => (1, 1),
            CriterionKind::Check(_) | CriterionKind::Group(_) => (0, 0),
        };
        sum.least += if may_skip { 0 } else { least };
        sum.most += most;
    });
    let together = joint_judges.len() as u32;
    // A criterion that is missing in a reply about all is asked about alone; a stronger judge adds one call.
    let limit = (sum.most + together + n_plain) * TURNS;
    CallRange {
        least: (sum.least + together) * n_members,
        most: (sum.most + together) * n_members,
        limit: limit * (n_members + u32::from(judge.escalate.is_some())),
    }
}

/// Each criterion that is not a group, and whether a condition or a requirement may leave it out.
fn visit_leaf_criteria(criteria: &[Criterion], outside: bool, each: &mut dyn FnMut(&Criterion, bool)) {
    for criterion in criteria {
        let may_skip = outside || criterion.when.is_some() || !criterion.requires.is_empty();
        match &criterion.ask {
            CriterionKind::Group(group) => visit_leaf_criteria(&group.criteria, may_skip, each),
            _ => each(criterion, may_skip),
        }
    }
}

/// The fewest and the most questions on a way from the root to a leaf.
fn path_lengths(graph: &Graph) -> (u32, u32) {
    // Acyclic by construction, so every node is settled after as many rounds as there are nodes.
    let mut lengths: Vec<(u32, u32)> = vec![(1, 1); graph.nodes.len()];
    for _ in 0..graph.nodes.len() {
        for (at, node) in graph.nodes.iter().enumerate() {
            let targets = match &node.answers {
                NodeAnswers::YesNo { yes, no } => vec![yes, no],
                NodeAnswers::Choices(choices) => choices.iter().map(|(_, target)| target).collect(),
            };
            let below = targets.into_iter().map(|target| match target {
                AnswerTarget::Leaf(_) => (0, 0),
                AnswerTarget::Node(id) => graph.position(id).map_or((0, 0), |index| lengths[index]),
            });
            let below: Vec<(u32, u32)> = below.collect();
            let least = below.iter().map(|(least, _)| *least).min().unwrap_or(0);
            let most = below.iter().map(|(_, most)| *most).max().unwrap_or(0);
            lengths[at] = (1 + least, 1 + most);
        }
    }
    graph.position(&graph.root).map_or((0, 0), |index| lengths[index])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dialect;
    use crate::testing::with_one_file;

    fn suite(text: &str) -> Suite {
        let loaded = with_one_file("suite.yaml", text, |world| {
            dialect::read_suite(Path::new("suite.yaml"), None, world)
        });
        let messages: Vec<String> =
            loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        loaded.suite.unwrap_or_else(|| panic!("{messages:?}"))
    }

    const SUITE: &str = "
evals:
  - name: one
    tags: [fast]
    response: x
    repeat: 2
    rubric:
      criteria:
        - {name: a, description: A.}
        - {name: b, description: B., when: {contains: z}}
        - {name: c, check: {type: contains, value: x}}
    judge: {jury: {size: 3}}
  - name: two
    response: x
    rubric:
      tree:
        ask: First?
        yes: {ask: Second?, yes: {score: 1}, no: {score: 0.5}}
        no: {score: 0}
    matrix: {models: [m1, m2]}
";

    fn names(select: &CaseSelection) -> Vec<String> {
        plan_suite(&suite(SUITE), select).unwrap().units.into_iter().map(|unit| unit.name).collect()
    }

    #[test]
    fn a_suite_becomes_units_in_a_fixed_order() {
        let all = ["one [trial 1 of 2]", "one [trial 2 of 2]", "two [m1]", "two [m2]"];
        assert_eq!(names(&CaseSelection::default()), all);
        assert_eq!(
            names(&CaseSelection { filter: Some("TWO".into()), ..CaseSelection::default() }),
            all[2..]
        );
        assert_eq!(names(&CaseSelection { tags: vec!["fast".into()], ..CaseSelection::default() }), all[..2]);
        let shards: Vec<Vec<String>> = (1..=3)
            .map(|n| names(&CaseSelection { shard: Some((n, 3)), ..CaseSelection::default() }))
            .collect();
        assert_eq!(shards, [vec![all[0], all[3]], vec![all[1]], vec![all[2]]]);
        let named =
            |name: &str| names(&CaseSelection { names: Some(vec![name.into()]), ..CaseSelection::default() });
        assert_eq!(named("one"), all[..2]);
        assert_eq!(named("one [trial 2 of 2]"), all[1..2]);
        assert_eq!(named("two [m2]"), all[3..]);
        let units = plan_suite(&suite(SUITE), &CaseSelection::default()).unwrap().units;
        let parts = |written: &str, variant: &[&str]| {
            let variant = variant.iter().map(|part| (*part).to_owned()).collect();
            Some(CaseNameParts { written: written.to_owned(), row: None, variant })
        };
        assert_eq!((&units[1].base, &units[1].parts), (&"one".to_owned(), &parts("one", &[])));
        assert_eq!((&units[3].base, &units[3].parts), (&all[3].to_owned(), &parts("two", &["m2"])));
        let error = plan_suite(
            &suite(SUITE),
            &CaseSelection { filter: Some("nine".into()), ..CaseSelection::default() },
        );
        assert!(error.unwrap_err().to_string().contains("one, two"));
    }

    #[test]
    fn calls_are_counted_exactly_and_trees_as_a_range() {
        let units = plan_suite(&suite(SUITE), &CaseSelection::default()).unwrap().units;
        assert_eq!(units[0].calls, CallRange { least: 3, most: 6, limit: 12 });
        assert_eq!(units[2].calls, CallRange { least: 1, most: 2, limit: 4 });
        let projected = projected_calls(units[..2].iter()).unwrap();
        assert_eq!(projected, "2 cases × 2 criteria × 3 judges: 6 to 12 judge calls, at most 24");
        let projected = projected_calls(units[2..3].iter()).unwrap();
        assert_eq!(projected, "1 case × 2 criteria: 1 to 2 judge calls, at most 4");
        assert_eq!((units[1].trial_if_repeated(), units[2].trial_if_repeated()), (Some(2), None));
    }

    /// The calls of one case with these keys.
    fn calls(keys: &str) -> CallRange {
        let text = format!("evals:\n  - name: one\n    response: x\n    {}\n", keys.replace('\n', "\n    "));
        plan_suite(&suite(&text), &CaseSelection::default()).unwrap().units[0].calls
    }

    #[test]
    fn each_kind_of_criterion_has_its_calls() {
        let range = |least, most, limit| CallRange { least, most, limit };
        let two = "criteria: [{name: a, description: A.}, {name: b, description: B.}]";
        assert_eq!(calls(&format!("rubric: {{{two}}}")), range(2, 2, 4));
        // One call about all criteria; a criterion that the reply leaves out is asked about alone.
        assert_eq!(calls(&format!("rubric: {{{two}}}\njudge: {{calls: per_rubric}}")), range(1, 1, 6));
        // Two judges are asked in one call each.
        let by_two = "judge: {calls: per_rubric, criteria: {b: gpt-5}}";
        assert_eq!(calls(&format!("rubric: {{{two}}}\n{by_two}")), range(2, 2, 8));
        let escalated = "judge: {calls: per_rubric, escalate: {to: gpt-5, margin: 0.1}}";
        assert_eq!(calls(&format!("rubric: {{{two}}}\n{escalated}")), range(1, 1, 12));
        let panel = "judge: {panel: [gpt-5, gpt-5-mini]}";
        assert_eq!(calls(&format!("rubric: {{{two}}}\n{panel}")), range(4, 4, 8));
        let group = "rubric: {criteria: [{name: g, criteria: [{name: a, description: A.}]}]}";
        assert_eq!(calls(group), range(1, 1, 2));
        let person =
            "rubric: {criteria: [{name: a, description: A., by: [human]}, {name: b, description: B.}]}";
        assert_eq!(calls(person), range(1, 1, 2));
        let steps = "rubric: {criteria: [{name: a, recipe: {type: g-eval, value: Kind.}}]}";
        assert_eq!(calls(steps), range(2, 2, 4));
        let recipe = "rubric: {criteria: [{name: a, recipe: {type: answer-relevance}}]}\nprompt: Who?";
        assert_eq!(calls(recipe), range(1, 1, 2));
        let chain = "rubric:\n  tree: {ask: A?, no: {score: 0}, yes: {ask: B?, no: {score: 0}, \
                     yes: {ask: C?, no: {score: 0}, yes: {score: 1}}}}";
        assert_eq!(calls(chain), range(1, 3, 6));
        let full = "rubric:\n  tree: {ask: A?, no: {ask: B?, no: {score: 0}, yes: {score: 1}}, \
                    yes: {ask: C?, no: {score: 0}, yes: {score: 1}}}";
        assert_eq!(calls(full), range(2, 2, 4));
    }

    const STORED: &str = "
evals:
  - name: first
    tags: [slow]
    repeat: 2
    targets: [echo, {id: echo, label: loud}]
    prompt: Norway
    store_output_as: country
    rubric: A.
  - {name: alone, tags: [slow], targets: [echo], prompt: x, rubric: A.}
  - name: second
    tags: [fast]
    repeat: 2
    targets: [echo, {id: echo, label: loud}]
    prompt: Capital of {{ outputs.country }}?
    rubric: A.
";

    #[test]
    fn an_output_is_that_of_the_unit_with_the_same_target_and_trial() {
        let units = plan_suite(&suite(STORED), &CaseSelection::default()).unwrap().units;
        assert_eq!(units.len(), 9);
        for unit in &units {
            let is_second = unit.cell.template().name == "second";
            let unit_name = unit.name.replace("second", "first");
            let expected = NeededOutput { name: "country".to_owned(), unit: unit_name };
            let expected = if is_second { vec![expected] } else { Vec::new() };
            assert_eq!(unit.needed_outputs, expected, "{}", unit.name);
        }
        let linked = [vec![0, 5], vec![1, 6], vec![2, 7], vec![3, 8], vec![4]];
        assert_eq!(group_linked_units(units.iter()), linked);
    }

    #[test]
    fn a_unit_is_selected_together_with_those_whose_outputs_it_uses() {
        let suite = suite(STORED);
        let n_units = |select: CaseSelection| plan_suite(&suite, &select).unwrap().units.len();
        let filter = |text: &str| CaseSelection { filter: Some(text.to_owned()), ..CaseSelection::default() };
        assert_eq!((n_units(filter("second [loud]")), n_units(filter("first [loud]"))), (4, 2));
        let shard = |part| n_units(CaseSelection { shard: Some((part, 2)), ..CaseSelection::default() });
        assert_eq!((shard(1), shard(2)), (5, 4));
        let tagged = |tag: &str| CaseSelection { tags: vec![tag.to_owned()], ..CaseSelection::default() };
        assert_eq!((n_units(tagged("fast")), n_units(tagged("slow"))), (8, 5));
    }

    #[test]
    fn an_output_that_several_units_store_is_refused() {
        let text = STORED.replace(
            "    repeat: 2\n    targets: [echo, {id: echo, label: loud}]\n    prompt: C",
            "    prompt: C",
        );
        let error = plan_suite(&suite(&text), &CaseSelection::default()).unwrap_err().to_string();
        assert!(
            error.contains("`second` uses the output `country`, which several units store: `first"),
            "{error}"
        );
    }

    #[test]
    fn the_last_case_that_stores_an_output_counts() {
        let text = "
evals:
  - {name: a, prompt: x, store_output_as: it, rubric: A.}
  - {name: b, prompt: '{{ outputs.it }}', store_output_as: it, rubric: A.}
  - {name: c, prompt: x, rubric: 'It repeats {{ outputs.it }}.'}
";
        let units = plan_suite(&suite(text), &CaseSelection::default()).unwrap().units;
        let needed: Vec<Option<&str>> =
            units.iter().map(|unit| unit.needed_outputs.first().map(|needed| needed.unit.as_str())).collect();
        assert_eq!(needed, [None, Some("a"), Some("b")]);
        // Also if the target of an earlier one is the same.
        let text = "
evals:
  - {name: a, targets: [{id: echo, label: x}], prompt: x, store_output_as: it, rubric: A.}
  - {name: b, targets: [{id: echo, label: z}], prompt: x, store_output_as: it, rubric: A.}
  - {name: c, targets: [{id: echo, label: x}], prompt: '{{ outputs.it }}', rubric: A.}
";
        let units = plan_suite(&suite(text), &CaseSelection::default()).unwrap().units;
        assert_eq!(units[2].needed_outputs[0].unit, units[1].name);
    }

    #[test]
    fn outputs_that_are_compared_stay_together() {
        let best = "
evals:
  - name: poem
    response: x
    rubric: {criteria: [{name: best, recipe: {type: select-best, value: The kindest.}}, {name: a, description: A.}]}
    matrix: {prompts: [A poem., An ode.]}
  - name: plain
    response: x
    rubric: A.
";
        let units = plan_suite(&suite(best), &CaseSelection::default()).unwrap().units;
        assert_eq!(group_compared(units.iter()), [vec![0, 1], vec![2]]);
        assert_eq!(units[0].contests(), [("best".to_owned(), "The kindest.".to_owned())]);
        assert_eq!((units[0].is_compared(), units[2].is_compared()), (true, false));
        assert_eq!(units[2].contests(), []);
        let other = "evals: [{name: one, response: x, rubric: {criteria: [
            {name: a, recipe: {type: g-eval, value: Kind.}}, {name: b, description: B., by: [human]}]}}]";
        let units = plan_suite(&suite(other), &CaseSelection::default()).unwrap().units;
        assert_eq!(units[0].contests(), []);
        assert_eq!(
            projected_calls(units.iter()).unwrap(),
            "1 case × 1 criterion: about 2 judge calls, at most 4"
        );
        let shard = |n| {
            let select = CaseSelection { shard: Some((n, 2)), ..CaseSelection::default() };
            plan_suite(&suite(best), &select).unwrap().units.len()
        };
        assert_eq!((shard(1), shard(2)), (2, 1));
    }
}
