//! Which units use the outputs of which other units.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{NoPlan, PlanUnit, group_compared, is_tagged};
use crate::suite::{Case, Suite};

/// The output of another unit, which fills `{{ outputs.NAME }}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededOutput {
    /// The name under which it is stored.
    pub name: String,
    /// The name of the unit that produces it.
    pub unit: String,
}

/// Cases with one of these tags, and those before them whose outputs they use.
pub(super) fn select_tagged_cases<'s>(suite: &'s Suite, tags: &[String]) -> Vec<&'s Case> {
    if tags.is_empty() || suite.cases.iter().all(|case| case.store_output_as.is_none()) {
        return suite.cases.iter().filter(|case| is_tagged(case, tags)).collect();
    }
    let (mut selected, mut used) = (Vec::new(), BTreeSet::new());
    for case in suite.cases.iter().rev() {
        if is_tagged(case, tags) || case.store_output_as.as_ref().is_some_and(|name| used.contains(name)) {
            used.extend(case.used_outputs());
            selected.push(case);
        }
    }
    selected.reverse();
    selected
}

/// Finds the unit that produces each output that a unit uses.
pub(super) fn link_stored_outputs(units: &mut [PlanUnit]) -> Result<(), NoPlan> {
    if units.iter().all(|unit| unit.cell.template().store_output_as.is_none()) {
        return Ok(());
    }
    let mut stored: HashMap<String, StoringUnits> = HashMap::new();
    let mut start = 0;
    while start < units.len() {
        // Units of one case follow each other and share the case.
        let case: *const Case = units[start].cell.template();
        let of_case = units[start..].iter().take_while(|unit| std::ptr::eq(unit.cell.template(), case));
        let end = start + of_case.count();
        let used = units[start].cell.template().used_outputs();
        for unit in &mut units[start..end] {
            let needed: Result<Vec<NeededOutput>, NoPlan> = used
                .iter()
                .map(|name| {
                    stored.get(name).map_or_else(
                        || Err(NoPlan::OutputNotStored { case: unit.name.clone(), output: name.clone() }),
                        |output| output.find_producer(unit, name),
                    )
                })
                .collect();
            unit.needed_outputs = needed?;
        }
        if let Some(name) = units[start].cell.template().store_output_as.clone() {
            // The last case that stores an output counts, as it would if they ran one after the other.
            stored.insert(name, StoringUnits::new(&units[start..end]));
        }
        start = end;
    }
    Ok(())
}

/// The units of the case that stores an output, by their row. A case has many rows and few units for each of them.
struct StoringUnits {
    by_row: HashMap<Option<String>, Vec<OutputProducer>>,
}

struct OutputProducer {
    unit: String,
    axes: [Option<String>; 4],
}

/// Prompt, target, judge model and trial of a unit.
fn axes_of(unit: &PlanUnit) -> [Option<String>; 4] {
    let [_, prompt, target, model] = unit.cell.axes();
    [prompt, target, model, unit.trial_if_repeated().map(|trial| trial.to_string())]
}

fn row_of(unit: &PlanUnit) -> Option<String> {
    let [row, ..] = unit.cell.axes();
    row
}

impl StoringUnits {
    fn new(units: &[PlanUnit]) -> Self {
        let mut by_row: HashMap<Option<String>, Vec<OutputProducer>> = HashMap::new();
        for unit in units {
            let producer = OutputProducer { unit: unit.name.clone(), axes: axes_of(unit) };
            by_row.entry(row_of(unit)).or_default().push(producer);
        }
        Self { by_row }
    }

    /// For each axis the unit with the same place on it, if there is one.
    fn find_producer(&self, unit: &PlanUnit, name: &str) -> Result<NeededOutput, NoPlan> {
        let of_row = [row_of(unit), None].into_iter().find_map(|row| self.by_row.get(&row));
        let mut matching: Vec<&OutputProducer> = match of_row {
            Some(of_row) => of_row.iter().collect(),
            None => self.by_row.values().flatten().collect(),
        };
        for (axis, own) in axes_of(unit).iter().enumerate() {
            let is_same =
                |producer: &&OutputProducer| producer.axes[axis].is_none() || producer.axes[axis] == *own;
            if matching.iter().any(is_same) {
                matching.retain(is_same);
            }
        }
        match matching.as_slice() {
            [only] => Ok(NeededOutput { name: name.to_owned(), unit: only.unit.clone() }),
            _ => {
                let mut producers: Vec<&str> =
                    matching.iter().map(|producer| producer.unit.as_str()).collect();
                producers.sort_unstable();
                let producers = producers.iter().take(5).map(|unit| format!("`{unit}`")).collect();
                Err(NoPlan::SeveralOutputs { case: unit.name.clone(), output: name.to_owned(), producers })
            }
        }
    }
}

/// The wanted places, and those of units whose outputs they use, with everything that these are compared with. `groups`
/// are units that are compared with each other.
pub(super) fn add_producers(
    units: &[PlanUnit],
    groups: &[Vec<usize>],
    mut wanted: HashSet<usize>,
) -> HashSet<usize> {
    if units.iter().all(|unit| unit.needed_outputs.is_empty()) {
        return wanted;
    }
    let places = places_by_name(units.iter());
    // In the plan, producers come before the units that use their outputs.
    for group in groups.iter().rev() {
        if group.iter().any(|at| wanted.contains(at)) {
            wanted.extend(group);
            let needed = group.iter().flat_map(|at| &units[*at].needed_outputs);
            wanted.extend(needed.filter_map(|needed| places.get(needed.unit.as_str())));
        }
    }
    wanted
}

fn places_by_name<'a>(units: impl Iterator<Item = &'a PlanUnit>) -> HashMap<&'a str, usize> {
    units.enumerate().map(|(at, unit)| (unit.name.as_str(), at)).collect()
}

/// Places of units, in one group if they are compared with each other, or if one uses the output of another.
pub fn group_linked_units<'a>(units: impl Iterator<Item = &'a PlanUnit> + Clone) -> Vec<Vec<usize>> {
    let groups = group_compared(units.clone());
    if units.clone().all(|unit| unit.needed_outputs.is_empty()) {
        return groups;
    }
    let places = places_by_name(units.clone());
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    for (group, members) in groups.iter().enumerate() {
        group_of.extend(members.iter().map(|at| (*at, group)));
    }
    // The first of the groups that a group is linked to, over any number of steps.
    let mut first: Vec<usize> = (0..groups.len()).collect();
    for (at, unit) in units.enumerate() {
        // A producer that is not selected is in no group.
        for producer in unit.needed_outputs.iter().filter_map(|needed| places.get(needed.unit.as_str())) {
            let (own, other) =
                (first_group(&mut first, group_of[&at]), first_group(&mut first, group_of[producer]));
            first[own.max(other)] = own.min(other);
        }
    }
    let mut linked: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (group, members) in groups.into_iter().enumerate() {
        linked.entry(first_group(&mut first, group)).or_default().extend(members);
    }
    linked
        .into_values()
        .map(|mut members| {
            members.sort_unstable();
            members
        })
        .collect()
}

fn first_group(first: &mut [usize], mut group: usize) -> usize {
    while first[group] != group {
        // Shortens the way for the next search.
        first[group] = first[first[group]];
        group = first[group];
    }
    group
}
