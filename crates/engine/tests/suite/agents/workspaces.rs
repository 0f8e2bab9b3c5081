//! Copies of folders in which agents work, and programs that prepare them.

use jurist_core::grade::Failure;
use jurist_core::suite::{SetupProgram, Workspace};

use super::*;

fn project_workspace(git: Option<&str>) -> Workspace {
    Workspace { path: Some("project".to_owned()), git: git.map(str::to_owned), setup: Vec::new() }
}

fn setup_program(command: &[&str]) -> SetupProgram {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    SetupProgram { command, ..SetupProgram::default() }
}

#[tokio::test]
async fn a_run_changes_its_own_copy_and_leaves_a_diff() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("project");
    std::fs::create_dir_all(files.join("src")).unwrap();
    std::fs::write(files.join("src/a.txt"), "one\ntwo\n").unwrap();
    std::fs::write(files.join(".gitignore"), "build\n").unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let servers = BTreeMap::from([("files".to_owned(), stdio(&[]))]);
    let agents = Agents::new(resolver, servers, project(folder.path()), None, true);
    let command = "sed -i s/two/three/ src/a.txt; echo new > b.txt; echo junk > build; ls -a | tr '\\n' ' '";
    let mut case = case(target("cli", json!({ "command": command })), None);
    case.workspace = Some(project_workspace(None));
    let produced = produce(&agents, &case).await.unwrap();
    let diff = produced.diff.unwrap();
    for part in ["--- a/src/a.txt", "-two\n+three", "+++ b/b.txt", "+new"] {
        assert!(diff.contains(part), "{diff}");
    }
    assert!(!diff.contains("junk"), "{diff}");
    assert!(!produced.response.unwrap().contains(".git "), "the agent finds no repository");
    assert_eq!(std::fs::read_to_string(files.join("src/a.txt")).unwrap(), "one\ntwo\n");

    // The files of a commit, whatever was changed since; a server writes in the same folder.
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(&files).args(["-c", "user.name=a", "-c", "user.email=b"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    std::fs::write(files.join("src/a.txt"), "changed since").unwrap();
    case.workspace = Some(project_workspace(Some("HEAD")));
    let server = Server::start(|seen| match seen.results().len() {
        0 => Act::Call(vec![("write", json!({ "path": "src/a.txt", "text": "one\nfour\n" }))]),
        _ => Act::Say("done".to_owned()),
    })
    .await;
    case.targets = model("vllm", &server).into_iter().collect();
    case.server = Some("files".to_owned());
    let diff = produce(&agents, &case).await.unwrap().diff.unwrap();
    assert!(diff.contains("-two\n+four"), "{diff}");
    case.workspace = Some(project_workspace(Some("nowhere")));
    assert!(matches!(produce(&agents, &case).await, Err(AgentRunError::Deferred(..))));
}

#[tokio::test]
async fn setup_programs_prepare_the_copy_and_are_not_in_the_diff() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("project");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("a.txt"), "one\n").unwrap();
    let script = "cat > \"$1/input.json\"; echo \"variable: ${CARGO_MANIFEST_DIR-none}\" > \"$JURIST_WORKSPACE/b.txt\"";
    std::fs::write(folder.path().join("prepare.sh"), script).unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let command = "cat a.txt b.txt input.json; echo third >> library/c.txt";
    let mut case = case(target("cli", json!({ "command": command })), None);
    // A repository within the workspace, even one without a commit, does not hide its files.
    let in_copy = "sed -i s/one/two/ a.txt && git init -q library && echo second > library/c.txt";
    let beside_suite = SetupProgram {
        cwd: Some(".".to_owned()),
        ..setup_program(&["sh", "prepare.sh", SetupProgram::WORKSPACE])
    };
    let setup = vec![setup_program(&["sh", "-c", in_copy]), beside_suite];
    case.workspace = Some(Workspace { setup, ..project_workspace(None) });
    let produced = produce(&agents, &case).await.unwrap();
    let response = produced.response.unwrap();
    for part in ["two\n", "variable: none\n", "\"test_id\":\"sum\"", "\"case_input\":\"What is 2 + 40?"] {
        assert!(response.contains(part), "{response}");
    }
    let diff = produced.diff.unwrap();
    assert!(diff.contains("library/c.txt") && diff.contains("+third"), "{diff}");
    for part in ["a.txt", "b.txt", "input.json", "+second"] {
        assert!(!diff.contains(part), "{diff}");
    }
    assert_eq!(std::fs::read_to_string(files.join("a.txt")).unwrap(), "one\n");

    // Without a folder the programs start with nothing.
    case.targets = target("cli", json!({ "command": "ls -a; cat made.txt" })).into_iter().collect();
    let setup = vec![setup_program(&["sh", "-c", "echo made > made.txt"])];
    case.workspace = Some(Workspace { setup, ..Workspace::default() });
    let response = produce(&agents, &case).await.unwrap().response.unwrap();
    assert_eq!(response.split_whitespace().collect::<Vec<_>>(), [".", "..", "made.txt", "made"]);
}

#[tokio::test]
async fn a_setup_program_gets_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let mut case = case(target("cli", json!({ "command": "cat note.txt" })), None);
    let place = "{{ env.JURIST_TEST_NOT_SET | default(\"here\") }}";
    let env =
        BTreeMap::from([("MODE".to_owned(), "small".to_owned()), ("PLACE".to_owned(), place.to_owned())]);
    let program = SetupProgram { env, ..setup_program(&["sh", "-c", "echo $MODE $PLACE > note.txt"]) };
    case.workspace = Some(Workspace { setup: vec![program.clone()], ..Workspace::default() });
    let response = produce(&agents, &case).await.unwrap().response.unwrap();
    assert_eq!(response.trim(), "small here");

    let env = BTreeMap::from([("TOKEN".to_owned(), "{{ env.JURIST_TEST_NOT_SET }}".to_owned())]);
    case.workspace = Some(Workspace { setup: vec![SetupProgram { env, ..program }], ..Workspace::default() });
    assert!(matches!(produce(&agents, &case).await, Err(AgentRunError::Deferred(..))));
}

#[tokio::test]
async fn a_setup_program_that_fails_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    let new_agents = |allowed: bool| {
        let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
        Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, allowed)
    };
    let agents = new_agents(true);
    let mut case = case(target("echo", json!({})), None);
    let mark = folder.path().join("mark");
    let marks = setup_program(&["touch", mark.to_str().unwrap()]);
    let mut prepare_with = |first: SetupProgram| {
        let setup = vec![first, marks.clone()];
        case.workspace = Some(Workspace { setup, ..project_workspace(None) });
        case.clone()
    };

    let failing = prepare_with(setup_program(&["sh", "-c", "echo no network >&2; exit 3"]));
    match produce(&agents, &failing).await {
        Err(AgentRunError::Failed(Failure::Unavailable, detail)) => {
            assert!(detail.starts_with("the setup program `sh -c"), "{detail}");
            assert!(detail.ends_with("no network"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    let slow = prepare_with(SetupProgram { timeout: Some(0.2), ..setup_program(&["sleep", "600"]) });
    match produce(&agents, &slow).await {
        Err(AgentRunError::Failed(Failure::Timeout, detail)) => {
            assert_eq!(detail, "the setup program `sleep 600` took longer than 0.2 s");
        }
        other => panic!("{other:?}"),
    }
    let lost = prepare_with(setup_program(&["/no/such/program"]));
    assert!(matches!(produce(&agents, &lost).await, Err(AgentRunError::Failed(Failure::Crashed, _))));

    // A file of a stranger starts nothing.
    let refused = new_agents(false);
    let strange = prepare_with(setup_program(&["sh", "-c", "true"]));
    let error = refused.check(&strange).unwrap_err().to_string();
    assert!(error.contains("the setup program `sh -c true`; pass --allow-commands"), "{error}");
    let named: Vec<String> =
        refused.find_refused_setup(&strange).iter().map(|refusal| refusal.what().to_owned()).collect();
    assert_eq!(named, ["the setup program `sh -c true`".to_owned(), marks.describe()]);
    assert!(matches!(produce(&refused, &strange).await, Err(AgentRunError::Failed(Failure::Crashed, _))));
    assert!(!mark.exists(), "what follows a failed program is not run");
}
