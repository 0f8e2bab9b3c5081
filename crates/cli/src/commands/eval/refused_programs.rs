//! Programs of a suite that need --allow-commands.

use std::path::Path;

use jurist_core::diagnostic::Diagnostics;
use jurist_core::plan::PlanUnit;
use jurist_core::source::{NodeShape, SourceNode, SourceSpan, Sources};
use jurist_core::syntax::parse_document;
use jurist_engine::load::read_input;
use jurist_engine::permission::NotPermitted;

use super::PreparedEval;

/// Programs, servers and addresses of a file that need --allow-commands, each once.
#[derive(Default)]
pub(super) struct RefusedPrograms {
    all: Vec<RefusedProgram>,
}

/// A program, and the first case that needs it.
struct RefusedProgram {
    refusal: NotPermitted,
    /// The file and line of the case.
    origin: String,
    /// The same with the name of the case.
    place: String,
}

impl RefusedPrograms {
    pub(super) fn add(&mut self, loaded: &PreparedEval<'_>, unit: &PlanUnit, refused: Vec<NotPermitted>) {
        for refusal in refused {
            if !self.all.iter().any(|known| known.refusal == refusal) {
                let (origin, place) = (loaded.origin_of(unit), loaded.place_of(unit));
                self.all.push(RefusedProgram { refusal, origin, place });
            }
        }
    }

    /// What the file names, such as "the program `sh agent.sh`".
    pub(super) fn names(&self) -> Vec<String> {
        self.all.iter().map(|known| known.refusal.what().to_owned()).collect()
    }

    /// One message about all of them, with the line of each.
    pub(super) fn message(&self, file: &Path) -> Option<String> {
        if self.all.is_empty() {
            return None;
        }
        let texts = SuiteTexts::read(file).unwrap_or_default();
        let line_of = |known: &RefusedProgram| {
            let line = texts.find_line(known.refusal.what())?;
            Some(format!("{}:{line}", file.display()))
        };
        if let [only] = self.all.as_slice() {
            // A program that is named in another file has no line in this one.
            let place = line_of(only).unwrap_or_else(|| only.place.clone());
            return Some(format!("{place}: {}", only.refusal));
        }
        let name = |known: &RefusedProgram| {
            let origin = line_of(known).unwrap_or_else(|| known.origin.clone());
            format!("{} ({origin})", known.refusal.what())
        };
        Some(format!(
            "{}: the file names {}; pass --allow-commands to allow them, if you trust the file",
            file.display(),
            self.all.iter().map(name).collect::<Vec<_>>().join(", ")
        ))
    }
}

/// The texts of a suite's own file, in the order of the file.
#[derive(Default)]
struct SuiteTexts {
    sources: Sources,
    texts: Vec<(String, SourceSpan)>,
}

impl SuiteTexts {
    fn read(file: &Path) -> Option<Self> {
        // Standard input can be read only once.
        let text = file.is_file().then(|| read_input(file).ok())??;
        let mut sources = Sources::default();
        let id = sources.add(file, text);
        let root = parse_document(&sources, id, &mut Diagnostics::default())?;
        let mut texts = Vec::new();
        collect_node_texts(&root, &mut texts);
        Some(Self { sources, texts })
    }

    /// The line of the text that is most like a program: `exec:sh agent.sh` for "the program `sh agent.sh`".
    fn find_line(&self, what: &str) -> Option<usize> {
        let program = what.split('`').nth(1).filter(|program| !program.is_empty())?;
        // A setup program of another tool may name its paths from another folder than the suite's.
        let paths = program.split(' ').filter(|word| word.contains('/'));
        std::iter::once(program).chain(paths).find_map(|wanted| self.find_text(wanted))
    }

    fn find_text(&self, wanted: &str) -> Option<usize> {
        let distance = |text: &str| match text.find(wanted) {
            Some(0) if text.len() == wanted.len() => Some(0),
            Some(_) if text.ends_with(wanted) => Some(1),
            Some(_) => Some(2),
            None => None,
        };
        let distances = self.texts.iter().filter_map(|(text, span)| Some((distance(text)?, span)));
        distances.min_by_key(|(distance, _)| *distance).map(|(_, span)| self.sources.place(*span).line)
    }
}

/// Adds the keys and the values of a node. Words of a list are also added as one command.
fn collect_node_texts(node: &SourceNode, texts: &mut Vec<(String, SourceSpan)>) {
    match &node.shape {
        NodeShape::Scalar(scalar) => texts.push((scalar.text.clone(), node.span)),
        NodeShape::List(items) => {
            let words: Option<Vec<&str>> = items.iter().map(SourceNode::text).collect();
            texts.extend(words.map(|words| (words.join(" "), node.span)));
            items.iter().for_each(|item| collect_node_texts(item, texts));
        }
        NodeShape::Map(entries) => {
            for entry in entries {
                texts.push((entry.key.clone(), entry.key_span));
                collect_node_texts(&entry.value, texts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_program_is_where_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("suite.yaml");
        let text = "targets: ['exec:python3 agent.py']\n\
            judge: 'command:python3 judge.py'\n\
            servers:\n  sums: {command: python3, args: [sums.py]}\n\
            checks:\n  - {type: script, command: [node, check.js]}\n\
            setup: [sh, ../scripts/prepare.sh]\n\
            evals: []\n";
        std::fs::write(&file, text).unwrap();
        let texts = SuiteTexts::read(&file).unwrap();
        for (what, line) in [
            ("the program `python3 agent.py`", Some(1)),
            ("the program `python3 judge.py` as judge", Some(2)),
            ("the server `python3`", Some(4)),
            ("the program `node check.js` as the check `script`", Some(6)),
            ("the setup program `sh scripts/prepare.sh`", Some(7)),
            ("the program `ruby other.rb`", None),
            ("a header with a variable of the environment", None),
        ] {
            assert_eq!(texts.find_line(what), line, "{what}");
        }
    }
}
