use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::outcome::CommandOutcome;

/// Write a commented example file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist init                        Write suite.yaml
  jurist init evals/faq.yaml
  jurist init --template monitor     Write monitor.yaml

An existing file is never overwritten.")]
pub struct InitArgs {
    /// File to write [default: the template's own name, such as suite.yaml]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// What to start from
    #[arg(long, value_enum, default_value = "suite")]
    template: InitTemplate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "kebab-case")]
pub enum InitTemplate {
    /// Recorded responses, graded by checks and a rubric
    Suite,
    /// Answers from retrieved documents
    Rag,
    /// A tool agent, started by a command
    Agent,
    /// Judge grades to compare with human labels
    JudgeValidation,
    /// Live traces, sampled and judged within a budget
    Monitor,
    /// Questions for human annotators
    Annotation,
}

/// What `jurist init` writes for a template.
pub struct TemplateFile {
    pub name: &'static str,
    pub text: &'static str,
    about: &'static str,
    /// Names and texts of files that it refers to.
    companions: &'static [(&'static str, &'static str)],
    /// Commands with what they do; `{file}` is the file that was written.
    next: &'static [(&'static str, &'static str)],
}

impl InitTemplate {
    pub fn file(self) -> TemplateFile {
        match self {
            Self::Suite => TemplateFile {
                name: "suite.yaml",
                text: include_str!("templates/suite.yaml"),
                about: "a small suite with comments",
                companions: &[],
                next: RUN_A_SUITE,
            },
            Self::Rag => TemplateFile {
                name: "rag.yaml",
                text: include_str!("templates/rag.yaml"),
                about: "a suite for answers from retrieved documents",
                companions: &[],
                next: RUN_A_SUITE,
            },
            Self::Agent => TemplateFile {
                name: "agent.yaml",
                text: include_str!("templates/agent.yaml"),
                about: "a suite for a tool agent",
                companions: &[("agent.py", include_str!("templates/agent.py"))],
                next: &[
                    ("jurist check {file}", "Validate the file"),
                    ("jurist eval {file} --explain", "Print the plan and its projected cost"),
                    ("jurist eval {file} --allow-commands", "Start the agent and grade its traces"),
                ],
            },
            Self::JudgeValidation => TemplateFile {
                name: "judge-validation.yaml",
                text: include_str!("templates/judge-validation.yaml"),
                about: "a suite to validate a judge against human labels",
                companions: &[("labels.csv", include_str!("templates/labels.csv"))],
                next: &[
                    (
                        "jurist eval {file} --judge MODEL",
                        "Grade the answers, for example by openai/gpt-5-mini",
                    ),
                    ("jurist align --human labels.csv --judge latest", "Measure judge–human agreement"),
                ],
            },
            Self::Monitor => TemplateFile {
                name: "monitor.yaml",
                text: include_str!("templates/monitor.yaml"),
                about: "a monitor for live traces",
                companions: &[],
                next: &[
                    ("jurist check {file}", "Validate the file"),
                    ("jurist serve", "Start the server that receives traces"),
                    ("jurist monitor apply {file}", "Create the monitor"),
                ],
            },
            Self::Annotation => TemplateFile {
                name: "annotation.yaml",
                text: include_str!("templates/annotation.yaml"),
                about: "an annotation task",
                companions: &[("items.jsonl", include_str!("templates/items.jsonl"))],
                next: &[
                    ("jurist check {file}", "Validate the file"),
                    ("jurist start {file}", "Start the annotation server"),
                ],
            },
        }
    }
}

const RUN_A_SUITE: &[(&str, &str)] = &[
    ("jurist check {file}", "Validate the file"),
    ("jurist eval {file} --explain", "Print the plan and its projected cost"),
    ("jurist eval {file}", "Run it; judges need a key such as ANTHROPIC_API_KEY"),
];

pub fn run_init_command(args: &InitArgs) -> anyhow::Result<CommandOutcome> {
    let template = args.template.file();
    let file = args.file.clone().unwrap_or_else(|| PathBuf::from(template.name));
    // Nothing is written if one of the files exists.
    let companions: Vec<(PathBuf, &str)> =
        template.companions.iter().map(|(name, text)| (file.with_file_name(name), *text)).collect();
    for (path, _) in &companions {
        anyhow::ensure!(
            !path.exists(),
            "`{}` exists already; use another folder, or move it away",
            path.display()
        );
    }
    write_new_file(&file, template.text)?;
    let path = file.display().to_string();
    let mut out = crate::render::stdout();
    writeln!(out, "wrote {path}: {}", template.about)?;
    for (companion, text) in &companions {
        write_new_file(companion, text)?;
        let is_program = companion.extension().is_some_and(|extension| extension == "py");
        let what = if is_program { "a sample agent" } else { "sample data" };
        writeln!(out, "wrote {}: {what}", companion.display())?;
    }
    writeln!(out, "next:")?;
    let commands: Vec<String> =
        template.next.iter().map(|(command, _)| command.replace("{file}", &path)).collect();
    let width = commands.iter().map(|command| command.chars().count()).max().unwrap_or(0);
    for (command, (_, purpose)) in commands.iter().zip(template.next) {
        writeln!(out, "  {command:<width$}   {purpose}")?;
    }
    Ok(CommandOutcome::Passed)
}

fn write_new_file(file: &std::path::Path, text: &str) -> anyhow::Result<()> {
    let path = file.display();
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("`{path}` exists already; name another file, or move it away")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write `{path}`")),
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{path}`"))
}
