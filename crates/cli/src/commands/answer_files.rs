//! Answers that AgentV writes into files of their own: its list of results has only their paths.

use std::path::{Component, Path, PathBuf};

use jurist_engine::load::read_text_file;
use serde_json::Value;

/// Keys of an answer in a result, and keys of the path of a file with the answer.
const ANSWERS: [&str; 3] = ["output", "output_text", "answer"];
const PATHS: [&str; 2] = ["output_path", "answer_path"];

/// Fills in the answers of results that have only the path of a file, which lies below the folder of the run.
pub fn add_answers_of_files(results: &Path, values: &mut [Value]) {
    let Some(run) = find_run_folder(results) else { return };
    for value in values {
        let is_answered = ANSWERS.iter().any(|key| value.get(key).is_some_and(|answer| !answer.is_null()));
        if is_answered || value.get("test_id").is_none() {
            continue;
        }
        let path = PATHS.iter().find_map(|key| value.get(key)?.as_str());
        let answer = path.and_then(|path| read_text_file(&find_file_below(&run, Path::new(path))?).ok());
        if let (Some(answer), Some(map)) = (answer, value.as_object_mut()) {
            map.insert("output".to_owned(), Value::from(&*answer));
        }
    }
}

/// The folder that the paths of results start from. AgentV keeps the list in a folder `.internal` of it.
fn find_run_folder(results: &Path) -> Option<PathBuf> {
    let folder = results.parent()?;
    let is_internal = folder.file_name().is_some_and(|name| name == ".internal");
    let run = if is_internal { folder.parent()? } else { folder };
    let run = if run.as_os_str().is_empty() { Path::new(".") } else { run };
    run.canonicalize().ok()
}

/// A file below a folder, also after links are followed.
fn find_file_below(folder: &Path, path: &Path) -> Option<PathBuf> {
    let is_inner = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let file = folder.join(path).canonicalize().ok().filter(|_| is_inner)?;
    file.starts_with(folder).then_some(file)
}
