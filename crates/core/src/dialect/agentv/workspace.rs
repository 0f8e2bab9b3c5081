//! The folder that an agent of AgentV works in, and the programs that prepare it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::TestRules;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, ReadError, remove_dots};
use crate::dialect::fields::MappingReader;
use crate::source::{NodeEntry, SourceNode, SourceSpan};
use crate::suite::{SetupProgram, Workspace};
use crate::template;

/// Keys under which AgentV describes the folder: `environment` today, `workspace` for hooks and in older files.
const BLOCKS: [&str; 2] = ["environment", "workspace"];

/// Names that AgentV fills into the commands of hooks, in addition to the folder.
const HOOK_NAMES: [&str; 4] = ["test_id", "eval_run_id", "case_input", "case_metadata"];

/// The key for functions that AgentV and promptfoo call around the tests.
const EXTENSIONS: &str = "extensions";

/// The extension of AgentV that tells its providers where the rules and skills of a folder are.
const AGENT_RULES: &str = "agentv:agent-rules";

/// What a file or a test says about the folder.
#[derive(Clone, Default)]
pub(super) struct AgentvWorkspace {
    /// The folder with its own setup.
    folder: Option<Workspace>,
    hooks: WorkspaceHooks,
    extensions: Vec<WorkspaceExtension>,
}

/// A function of a file that AgentV calls before a test.
#[derive(Clone)]
struct WorkspaceExtension {
    /// Called once for a file in AgentV, and not before each test.
    is_before_all: bool,
    program: SetupProgram,
}

/// Programs that run before a test. Each case has its own copy, so that both run for each copy.
#[derive(Clone, Default)]
struct WorkspaceHooks {
    is_enabled: Option<bool>,
    before_all: Option<SetupProgram>,
    before_each: Option<SetupProgram>,
}

impl AgentvWorkspace {
    pub(super) fn read(fields: &MappingReader<'_>, rules: TestRules) -> Self {
        let mut workspace = Self { extensions: read_extensions(fields, rules), ..Self::default() };
        for key in BLOCKS {
            if let Some(node) = fields.get(key) {
                workspace.add_block(fields, key, node);
            }
        }
        workspace
    }

    /// The workspace of a case: a test's own folder, or else that of the file, and hooks one by one likewise.
    pub(super) fn complete(self, default: &Self) -> Option<Workspace> {
        let hooks = WorkspaceHooks {
            is_enabled: self.hooks.is_enabled.or(default.hooks.is_enabled),
            before_all: self.hooks.before_all.or_else(|| default.hooks.before_all.clone()),
            before_each: self.hooks.before_each.or_else(|| default.hooks.before_each.clone()),
        };
        let folder = self.folder.or_else(|| default.folder.clone());
        let (before_all, before_each) = match hooks.is_enabled {
            Some(false) => (None, None),
            _ => (hooks.before_all, hooks.before_each),
        };
        let extensions = if self.extensions.is_empty() { &default.extensions } else { &self.extensions };
        let (of_all, of_each): (Vec<&WorkspaceExtension>, Vec<&WorkspaceExtension>) =
            extensions.iter().partition(|extension| extension.is_before_all);
        let programs_of = |extensions: Vec<&WorkspaceExtension>| {
            extensions.into_iter().map(|extension| extension.program.clone()).collect::<Vec<SetupProgram>>()
        };
        let mut programs = programs_of(of_all);
        programs.extend(before_all);
        programs.extend(programs_of(of_each));
        programs.extend(before_each);
        if folder.is_none() && programs.is_empty() {
            return None;
        }
        let mut workspace = folder.unwrap_or_default();
        workspace.setup.extend(programs);
        Some(workspace)
    }

    fn add_block(&mut self, fields: &MappingReader<'_>, key: &str, node: &SourceNode) {
        let cx = fields.cx;
        let reference = node.text().and_then(|text| text.strip_prefix("file://"));
        let reference = reference.filter(|path| path.ends_with(".yaml") || path.ends_with(".yml"));
        let shared = reference.map(|path| cx.find(path, node.span).and_then(|file| cx.parse(file)));
        let node = match &shared {
            // A file that cannot be read has been reported.
            Some(None) => return,
            Some(Some(shared)) => shared,
            None => node,
        };
        // Paths of a file of its own start at the folder of that file.
        let base = reference.and_then(|path| Path::new(path).parent()).unwrap_or(Path::new(""));
        let Some(entries) = node.map() else {
            let path = cx.path(node, key);
            self.folder = path.map(|path| Workspace { path: Some(path), ..Workspace::default() });
            return;
        };
        if node.get("type").and_then(SourceNode::text).is_some_and(|kind| kind != "host") {
            let message = format!("`{key}` in a container is not supported");
            cx.report(Diagnostic::error(Code::Unsupported, fields.key_span(key), message));
            return;
        }
        let block = WorkspaceBlock { cx, key, base, entries };
        self.folder = block.read_folder().or_else(|| self.folder.take());
        if let Some(hooks) = block.find("hooks") {
            self.hooks = block.read_hooks(hooks);
        }
        block.report_others();
    }
}

/// The mapping under one of [`BLOCKS`].
struct WorkspaceBlock<'b> {
    cx: &'b Context<'b>,
    key: &'b str,
    /// The folder of the file that contains the block, from the folder of the suite.
    base: &'b Path,
    entries: &'b [NodeEntry],
}

impl<'b> WorkspaceBlock<'b> {
    fn find(&self, key: &str) -> Option<&'b NodeEntry> {
        self.entries.iter().find(|entry| entry.key == key && !entry.value.is_null())
    }

    fn read_folder(&self) -> Option<Workspace> {
        let cx = self.cx;
        if let Some(entry) = self.find("docker") {
            self.refuse("docker", entry, "AgentV runs the test in a container; Jurist starts none");
            return None;
        }
        let named = self.find("template").or_else(|| self.find("workdir"));
        let written = named.and_then(|entry| cx.path(&entry.value, "workdir"));
        let is_missing = named
            .zip(written.as_deref())
            .is_some_and(|(named, path)| is_missing_folder(cx, path, named.value.span));
        // A path in the suite itself is kept as it is written.
        let path = match written {
            Some(path) if self.base.as_os_str().is_empty() => Some(path),
            path => path.map(|path| remove_dots(&self.base.join(path)).display().to_string()),
        };
        let mut folder = Workspace { path, ..Workspace::default() };
        if let Some(entry) = self.find("repos") {
            match read_local_repository(cx, &entry.value).filter(|_| folder.path.is_none()) {
                Some(repository) => folder = repository,
                None => {
                    let note =
                        "AgentV fetches repositories into the folder; Jurist copies one folder of this disk";
                    self.refuse("repos", entry, note);
                    return None;
                }
            }
        }
        if let Some(entry) = self.find("setup") {
            // Programs of an environment work in its folder, those of older files beside the suite.
            let workdir = folder.path.as_deref().filter(|_| self.key == "environment");
            let workdir = workdir.map(|path| remove_dots(Path::new(path)));
            if let Some(program) = self.read_program(&entry.value, workdir) {
                folder.setup.push(SetupProgram { env: self.read_variables(), ..program });
            }
            // AgentV makes a folder that does not exist.
            folder.path = folder.path.filter(|_| !is_missing);
        }
        (folder.path.is_some() || !folder.setup.is_empty()).then_some(folder)
    }

    /// Variables of the setup program. They stay as written, so that a secret is filled in only when it is started.
    fn read_variables(&self) -> BTreeMap<String, String> {
        let entry = self.find("env").filter(|_| self.key == "environment");
        let variables = entry.and_then(|entry| self.cx.entries(&entry.value, "env")).unwrap_or_default();
        let read = |variable: &NodeEntry| match variable.value.scalar() {
            Some(scalar) => Some((variable.key.clone(), scalar.text.clone())),
            None => {
                self.cx.wrong_type(&variable.value, &variable.key, "text");
                None
            }
        };
        variables.iter().filter_map(read).collect()
    }

    fn read_hooks(&self, entry: &NodeEntry) -> WorkspaceHooks {
        let cx = self.cx;
        let mut hooks = WorkspaceHooks::default();
        let Some(all) = cx.entries(&entry.value, "hooks") else { return hooks };
        if all.is_empty() {
            self.warn_no_effect("hooks", entry.key_span);
        }
        for hook in all.iter().filter(|hook| !hook.value.is_null()) {
            match hook.key.as_str() {
                "enabled" => hooks.is_enabled = cx.bool(&hook.value, "enabled"),
                "before_all" => hooks.before_all = self.read_program(&hook.value, None),
                "before_each" => hooks.before_each = self.read_program(&hook.value, None),
                // The clean-up program has nothing to do: the copy is deleted.
                other => self.warn_no_effect(&format!("hooks.{other}"), hook.key_span),
            }
        }
        hooks
    }

    /// A program; `workdir` is the folder whose copy takes its place, if AgentV names it by its path.
    fn read_program(&self, node: &SourceNode, workdir: Option<PathBuf>) -> Option<SetupProgram> {
        let cx = self.cx;
        let fields = MappingReader::new(cx, node, "program")?;
        let written = fields.any(&["command", "script"]);
        let words = written.map(|node| read_words(cx, node)).unwrap_or_default();
        if words.is_empty() && !fields.has("reset") {
            fields.missing("command");
        }
        let cwd = fields.get("cwd").and_then(|node| cx.path(node, "cwd"));
        let timeout = fields
            .any(&["timeout_ms", "timeoutMs"])
            .and_then(|node| cx.number_in(node, "timeout_ms", 1.0..=86_400_000.0));
        // The copy is new, so there is nothing to reset.
        fields.knows(&["reset"]);
        fields.ignores_others();
        fields.finish();
        let start = match (&workdir, cwd) {
            (Some(workdir), Some(cwd)) => workdir.join(cwd),
            (None, Some(cwd)) => self.base.join(cwd),
            (_, None) => self.base.to_owned(),
        };
        let place = ProgramPlace { start: remove_dots(&start), workdir };
        let command: Vec<String> = words.iter().map(|word| place.rewrite_word(word)).collect();
        let timeout = timeout.map(|milliseconds| milliseconds / 1000.0);
        (!command.is_empty()).then(|| SetupProgram {
            command,
            cwd: place.cwd(),
            timeout,
            ..SetupProgram::default()
        })
    }

    fn refuse(&self, name: &str, entry: &NodeEntry, note: &str) {
        let message = format!("`{}.{name}` is not supported", self.key);
        self.cx.report(
            Diagnostic::error(Code::Unsupported, entry.key_span, message)
                .note(note)
                .help("name a folder with `template` or `workdir`, or fill it with a program under `setup`"),
        );
    }

    fn warn_no_effect(&self, name: &str, span: SourceSpan) {
        let message = format!("`{}.{name}` has no effect here", self.key);
        self.cx.report(Diagnostic::warning(Code::NoEffect, span, message));
    }

    fn report_others(&self) {
        let own = ["template", "workdir", "type", "setup", "hooks", "repos", "docker"];
        // Variables are those of the setup program; agents and graders do not get them.
        let has_variables = self.key == "environment" && self.find("setup").is_some();
        let is_read = |key: &str| own.contains(&key) || has_variables && key == "env";
        for entry in self.entries.iter().filter(|entry| !is_read(&entry.key)) {
            self.warn_no_effect(&entry.key, entry.key_span);
        }
    }
}

/// Functions that are called before a test. promptfoo lets them change the tests while it runs, so that they are
/// refused in its files.
fn read_extensions(fields: &MappingReader<'_>, rules: TestRules) -> Vec<WorkspaceExtension> {
    let Some(node) = fields.get(EXTENSIONS) else { return Vec::new() };
    let listed = fields.cx.list(node, EXTENSIONS).unwrap_or_default();
    listed.iter().filter_map(|node| read_extension(fields.cx, node, rules)).collect()
}

fn read_extension(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Option<WorkspaceExtension> {
    let name = node.get("id").unwrap_or(node);
    let text = cx.expand_path(name.text().unwrap_or_default(), name.span);
    if rules == TestRules::Agentv && (text == AGENT_RULES || text.starts_with("agentv:agent-rules:")) {
        report_agent_rules(cx, node);
        return None;
    }
    let Some((path, function)) = text.strip_prefix("file://").and_then(|text| text.rsplit_once(':')) else {
        refuse_extension(cx, node, rules);
        return None;
    };
    match (function, rules) {
        // The copy of the folder is deleted, and reports are written by Jurist.
        ("afterAll" | "afterEach", _) => {
            let message = format!("`{function}` under `{EXTENSIONS}` has no effect here");
            cx.report(Diagnostic::warning(Code::NoEffect, cx.head(node), message));
            None
        }
        ("beforeAll" | "beforeEach", TestRules::Agentv) => {
            let path = cx.find(path, name.span).and_then(|_| cx.find_way_up(path, name.span))?;
            let file = format!("{}/{path}", SetupProgram::SUITE);
            let program = SetupProgram {
                command: vec![if Path::new(&path).is_absolute() { path } else { file }],
                function: Some(function.to_owned()),
                cwd: Some(".".to_owned()),
                ..SetupProgram::default()
            };
            Some(WorkspaceExtension { is_before_all: function == "beforeAll", program })
        }
        _ => {
            refuse_extension(cx, node, rules);
            None
        }
    }
}

/// Without paths of its own, it changes no file of the folder.
fn report_agent_rules(cx: &Context<'_>, node: &SourceNode) {
    let lists_paths =
        |node: &SourceNode| ["skills", "hooks", "agents", "rules"].iter().any(|key| node.get(key).is_some());
    if lists_paths(node) || node.get("config").is_some_and(lists_paths) {
        let message = format!("paths of `{AGENT_RULES}` are not supported");
        cx.report(
            Diagnostic::error(Code::Unsupported, cx.head(node), message)
                .note("AgentV copies them into the folder of the agent")
                .help("copy them with a program under `environment.setup`"),
        );
        return;
    }
    let message = format!(
        "`{AGENT_RULES}` has no effect here: the agent finds rules and skills in its folder by itself"
    );
    cx.report(Diagnostic::warning(Code::NoEffect, cx.head(node), message));
}

fn refuse_extension(cx: &Context<'_>, node: &SourceNode, rules: TestRules) {
    let message = format!("this entry of `{EXTENSIONS}` is not supported");
    let diagnostic = Diagnostic::error(Code::Unsupported, cx.head(node), message);
    cx.report(match rules {
        TestRules::Agentv => diagnostic
            .note(format!("AgentV has `{AGENT_RULES}`, and files with functions such as beforeAll"))
            .help("write `file://PATH:beforeAll` or `file://PATH:beforeEach`"),
        TestRules::Promptfoo => diagnostic
            .note("promptfoo calls it before each test, and it may change the test; here tests are fixed")
            .help("change variables with `transformVars`, or let a script under `tests` write the tests"),
    });
}

/// Where AgentV starts a program; paths from the folder of the suite.
struct ProgramPlace {
    start: PathBuf,
    workdir: Option<PathBuf>,
}

impl ProgramPlace {
    /// The rest of a path in the folder whose copy takes its place.
    fn within_workdir(&self, path: &Path) -> Option<PathBuf> {
        let rest = path.strip_prefix(self.workdir.as_deref()?).ok()?;
        (!rest.starts_with("..")).then(|| rest.to_owned())
    }

    /// The folder in which the program starts here; `None` is the copy.
    fn cwd(&self) -> Option<String> {
        match self.within_workdir(&self.start) {
            Some(rest) if rest.as_os_str().is_empty() => None,
            Some(rest) => Some(format!("{}/{}", SetupProgram::WORKSPACE, rest.display())),
            None if self.start.as_os_str().is_empty() => Some(".".to_owned()),
            None => Some(self.start.display().to_string()),
        }
    }

    /// A word of a command. A relative path that would lead elsewhere, because the program works on a copy, is led to
    /// the same file of the copy or of the suite.
    fn rewrite_word(&self, word: &str) -> String {
        let is_relative = word == "." || word == ".." || word.starts_with("./") || word.starts_with("../");
        if !is_relative {
            return word.to_owned();
        }
        let path = remove_dots(&self.start.join(word));
        let starts_in_copy = self.within_workdir(&self.start).is_some();
        match (starts_in_copy, self.within_workdir(&path)) {
            (true, Some(_)) | (false, None) => word.to_owned(),
            (true, None) if path.is_absolute() => path.display().to_string(),
            (true, None) => format!("{}/{}", SetupProgram::SUITE, path.display()),
            (false, Some(rest)) if rest.as_os_str().is_empty() => SetupProgram::WORKSPACE.to_owned(),
            (false, Some(rest)) => format!("{}/{}", SetupProgram::WORKSPACE, rest.display()),
        }
    }
}

/// The words of a command; AgentV splits a text at spaces.
fn read_words(cx: &Context<'_>, node: &SourceNode) -> Vec<String> {
    let words: Vec<String> = match node.text() {
        Some(_) => {
            let line = cx.plain_text(node, "command").unwrap_or_default();
            line.split_whitespace().map(str::to_owned).collect()
        }
        None => {
            let items = cx.list(node, "command").unwrap_or_default();
            if node.list().is_some_and(<[SourceNode]>::is_empty) {
                cx.error(Code::Empty, node.span, "`command` names no program");
            }
            items.iter().filter_map(|item| cx.scalar_text(item, "command")).collect()
        }
    };
    for word in &words {
        template::replace(word, |name| {
            if HOOK_NAMES.contains(&name) {
                let message = format!("`{{{{ {name} }}}}` is not filled in here");
                cx.report(
                    Diagnostic::error(Code::Unsupported, cx.head(node), message)
                        .help("read it from the JSON on the program's standard input"),
                );
            }
            None
        });
    }
    words
}

/// One repository of this disk that is the whole folder.
fn read_local_repository(cx: &Context<'_>, node: &SourceNode) -> Option<Workspace> {
    let [only] = node.list()? else { return None };
    let known = ["path", "repo", "commit", "source", "checkout"];
    if only.map()?.iter().any(|entry| !known.contains(&entry.key.as_str())) {
        return None;
    }
    let target = only.get("path").and_then(SourceNode::text).unwrap_or(".");
    if !["", "."].contains(&target.trim_end_matches('/')) {
        return None;
    }
    let local = only.get("source").and_then(|source| source.get("path"));
    let path = cx.path(local.or_else(|| only.get("repo"))?, "repo")?;
    // An address or a name such as `owner/project` is not a path of this disk.
    if local.is_none() && !path.starts_with(['.', '/']) {
        return None;
    }
    let commit = only.get("commit").or_else(|| only.get("checkout")?.get("ref"));
    let commit = commit.and_then(|node| cx.scalar_text(node, "commit"));
    let git = Some(commit.unwrap_or_else(|| "HEAD".to_owned()));
    Some(Workspace { path: Some(path), git, setup: Vec::new() })
}

/// Whether a folder is neither next to the file nor in a folder above, where a run would look for it.
fn is_missing_folder(cx: &Context<'_>, path: &str, span: SourceSpan) -> bool {
    let file = cx.path_of(span.file);
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&cx.world.root));
    folders
        .map(|folder| remove_dots(&folder.join(path)))
        .all(|place| matches!((cx.world.read)(&place), Err(ReadError::Missing)))
}
