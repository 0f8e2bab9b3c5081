//! Where a run comes from: branch, commit, author, tags, and the address of the CI job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known about the origin of a run. Nothing is required: a run in a plain folder has none of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunProvenance {
    /// Name of the Git branch; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The full hash of the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The person who started the CI job, or the author of the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The names that `--run-tag` gives to a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The page of the CI job that made the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_url: Option<String>,
}

/// Letters of a branch, an author or a tag that are stored. Git itself takes branches of up to about 250.
const MAX_LETTERS: usize = 255;
/// Bytes of an address that are stored; longer ones are left out, because a part of an address leads nowhere.
const MAX_URL: usize = 2_000;
/// Tags of one run.
const MAX_TAGS: usize = 20;

impl RunProvenance {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the variables of a CI job say; empty outside of CI.
    ///
    /// Each row gives the variables in the order in which they are tried. In a job for a pull request, the variables
    /// of the request come first: the others name a temporary merge commit that no history has.
    pub fn from_ci(variable: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let first = |names: &[&str]| names.iter().find_map(|name| get(name));
        let is_true = |name: &str| get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let provenance = if is_true("GITHUB_ACTIONS") {
            let is_tag = get("GITHUB_REF_TYPE").is_some_and(|kind| kind == "tag");
            let address = |server: String| {
                let (repository, run) = (get("GITHUB_REPOSITORY")?, get("GITHUB_RUN_ID")?);
                Some(format!("{server}/{repository}/actions/runs/{run}"))
            };
            Self {
                branch: get("GITHUB_HEAD_REF").or_else(|| get("GITHUB_REF_NAME").filter(|_| !is_tag)),
                commit: get("GITHUB_SHA"),
                author: get("GITHUB_ACTOR"),
                ci_url: get("GITHUB_SERVER_URL").and_then(address),
                tags: Vec::new(),
            }
        } else if is_true("GITLAB_CI") {
            let author = get("CI_COMMIT_AUTHOR").map(|author| without_address(&author).to_owned());
            Self {
                branch: first(&["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH"]),
                commit: first(&["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "CI_COMMIT_SHA"]),
                author: get("GITLAB_USER_NAME").or(author),
                ci_url: first(&["CI_JOB_URL", "CI_PIPELINE_URL"]),
                tags: Vec::new(),
            }
        } else if is_true("CIRCLECI") {
            Self {
                branch: get("CIRCLE_BRANCH"),
                commit: get("CIRCLE_SHA1"),
                author: get("CIRCLE_USERNAME"),
                ci_url: get("CIRCLE_BUILD_URL"),
                tags: Vec::new(),
            }
        } else if is_true("BUILDKITE") {
            Self {
                branch: get("BUILDKITE_BRANCH"),
                // A build of the newest commit has the word `HEAD` here.
                commit: get("BUILDKITE_COMMIT").filter(|commit| commit != "HEAD"),
                author: first(&["BUILDKITE_BUILD_AUTHOR", "BUILDKITE_BUILD_CREATOR"]),
                ci_url: get("BUILDKITE_BUILD_URL"),
                tags: Vec::new(),
            }
        } else if is_true("TF_BUILD") {
            let address = |collection: String| {
                let (project, build) = (get("SYSTEM_TEAMPROJECT")?, get("BUILD_BUILDID")?);
                let (collection, project) = (collection.trim_end_matches('/'), project.replace(' ', "%20"));
                Some(format!("{collection}/{project}/_build/results?buildId={build}"))
            };
            let branch = first(&["SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"]);
            Self {
                branch: branch.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)),
                commit: first(&["SYSTEM_PULLREQUEST_SOURCECOMMITID", "BUILD_SOURCEVERSION"]),
                author: get("BUILD_REQUESTEDFOR"),
                ci_url: get("SYSTEM_COLLECTIONURI").and_then(address),
                tags: Vec::new(),
            }
        } else if get("JENKINS_URL").is_some() {
            let remote = get("GIT_BRANCH").map(|name| name.trim_start_matches("origin/").to_owned());
            Self {
                branch: first(&["CHANGE_BRANCH", "BRANCH_NAME"]).or(remote),
                commit: get("GIT_COMMIT"),
                author: first(&["CHANGE_AUTHOR_DISPLAY_NAME", "CHANGE_AUTHOR"]),
                ci_url: get("BUILD_URL"),
                tags: Vec::new(),
            }
        } else {
            Self::default()
        };
        provenance.sanitize()
    }

    /// Without control characters, bounded, and without what is no commit or no address of a page. Branches and
    /// authors of a pull request are chosen by its sender.
    #[must_use]
    pub fn sanitize(self) -> Self {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.tags.iter().filter_map(|tag| clean_text(tag)) {
            if tags.len() < MAX_TAGS && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Self {
            branch: self.branch.as_deref().and_then(clean_text),
            commit: self.commit.as_deref().and_then(clean_commit),
            author: self.author.as_deref().and_then(clean_text),
            tags,
            ci_url: self.ci_url.as_deref().and_then(clean_url),
        }
    }

    /// Fills what is absent from another source, if both are about the same commit.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.commit.is_some() && other.commit.is_some() && self.commit != other.commit {
            return self;
        }
        Self {
            branch: self.branch.or(other.branch),
            commit: self.commit.or(other.commit),
            author: self.author.or(other.author),
            tags: if self.tags.is_empty() { other.tags } else { self.tags },
            ci_url: self.ci_url.or(other.ci_url),
        }
    }

    /// The beginning of the commit's hash, as people write it.
    pub fn short_commit(&self) -> Option<&str> {
        self.commit.as_deref().map(|commit| commit.get(..10).unwrap_or(commit))
    }

    /// In a line, such as `main a1b2c3d4e5 by Ann (nightly)`; empty where nothing is known.
    pub fn line(&self) -> String {
        let author = self.author.as_ref().map(|author| format!("by {author}"));
        let tags = (!self.tags.is_empty()).then(|| format!("({})", self.tags.join(", ")));
        let parts = [self.branch.clone(), self.short_commit().map(str::to_owned), author, tags];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// `Ann <ann@example.org>` without the address: a name is enough to know whom to ask.
fn without_address(author: &str) -> &str {
    author.split_once('<').map_or(author, |(name, _)| name.trim_end())
}

fn clean_text(text: &str) -> Option<String> {
    // Letters that turn or hide text would let a branch look like another one.
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let text: String = text.chars().filter(|letter| !is_hidden(*letter)).take(MAX_LETTERS).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// SHA-1 and SHA-256 as hexadecimal digits.
fn clean_commit(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let is_hash = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(text)
}

/// Only pages, since the address becomes a link; and none with a password.
fn clean_url(text: &str) -> Option<String> {
    let text = text.trim();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = text.len() <= MAX_URL && text.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !host.is_empty() && !host.contains('@') && !text.contains('\\')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    fn of_variables(variables: &[(&str, &str)]) -> RunProvenance {
        let known: BTreeMap<&str, &str> = variables.iter().copied().collect();
        RunProvenance::from_ci(|name| known.get(name).map(|value| (*value).to_owned()))
    }

    fn expect(actual: &RunProvenance, branch: &str, author: &str, url: &str) {
        assert_eq!(actual.branch.as_deref(), Some(branch));
        assert_eq!(actual.commit.as_deref(), Some(SHA));
        assert_eq!(actual.author.as_deref(), Some(author));
        assert_eq!(actual.ci_url.as_deref(), Some(url));
    }

    #[test]
    fn six_ci_systems_are_read() {
        let github = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_HEAD_REF", "feature"),
            ("GITHUB_REF_NAME", "12/merge"),
            ("GITHUB_SHA", SHA),
            ("GITHUB_ACTOR", "ann"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_RUN_ID", "7"),
        ];
        expect(&of_variables(&github), "feature", "ann", "https://github.com/o/r/actions/runs/7");
        let gitlab = [
            ("GITLAB_CI", "true"),
            ("CI_COMMIT_BRANCH", "main"),
            ("CI_COMMIT_SHA", SHA),
            ("CI_COMMIT_AUTHOR", "Ann Lee <ann@example.org>"),
            ("CI_JOB_URL", "https://gitlab.example/j/1"),
        ];
        expect(&of_variables(&gitlab), "main", "Ann Lee", "https://gitlab.example/j/1");
        let circle = [
            ("CIRCLECI", "true"),
            ("CIRCLE_BRANCH", "main"),
            ("CIRCLE_SHA1", SHA),
            ("CIRCLE_USERNAME", "ann"),
            ("CIRCLE_BUILD_URL", "https://circleci.example/1"),
        ];
        expect(&of_variables(&circle), "main", "ann", "https://circleci.example/1");
        let buildkite = [
            ("BUILDKITE", "true"),
            ("BUILDKITE_BRANCH", "main"),
            ("BUILDKITE_COMMIT", SHA),
            ("BUILDKITE_BUILD_CREATOR", "ann"),
            ("BUILDKITE_BUILD_URL", "https://buildkite.example/1"),
        ];
        expect(&of_variables(&buildkite), "main", "ann", "https://buildkite.example/1");
        let azure = [
            ("TF_BUILD", "True"),
            ("BUILD_SOURCEBRANCH", "refs/heads/team/x"),
            ("BUILD_SOURCEVERSION", SHA),
            ("BUILD_REQUESTEDFOR", "Ann Lee"),
            ("SYSTEM_COLLECTIONURI", "https://dev.azure.example/o/"),
            ("SYSTEM_TEAMPROJECT", "my project"),
            ("BUILD_BUILDID", "9"),
        ];
        let url = "https://dev.azure.example/o/my%20project/_build/results?buildId=9";
        expect(&of_variables(&azure), "team/x", "Ann Lee", url);
        let jenkins = [
            ("JENKINS_URL", "https://ci.example/"),
            ("GIT_BRANCH", "origin/main"),
            ("GIT_COMMIT", SHA),
            ("CHANGE_AUTHOR", "ann"),
            ("BUILD_URL", "https://ci.example/job/1/"),
        ];
        expect(&of_variables(&jenkins), "main", "ann", "https://ci.example/job/1/");
    }

    #[test]
    fn outside_of_ci_nothing_is_known() {
        assert!(of_variables(&[("GITHUB_SHA", SHA), ("GIT_COMMIT", SHA)]).is_empty());
        let tag = [("GITHUB_ACTIONS", "true"), ("GITHUB_REF_TYPE", "tag"), ("GITHUB_REF_NAME", "v1")];
        assert!(of_variables(&tag).is_empty(), "a tag is no branch");
        assert!(of_variables(&[("BUILDKITE", "true"), ("BUILDKITE_COMMIT", "HEAD")]).is_empty());
    }

    #[test]
    fn values_are_bounded_and_free_of_control_characters() {
        let hostile = RunProvenance {
            branch: Some(format!("\u{1b}[31mma\u{202e}in\n{}", "x".repeat(10_000))),
            commit: Some("--upload-pack=evil".into()),
            author: Some("\u{7}\u{8}".into()),
            tags: (0..100).map(|n| format!("t{}", n / 2)).collect(),
            ci_url: Some("javascript:alert(1)".into()),
        };
        let clean = hostile.sanitize();
        let branch = clean.branch.unwrap();
        assert!(branch.starts_with("[31mmainxxx") && branch.chars().count() == MAX_LETTERS);
        assert_eq!((clean.commit, clean.author, clean.ci_url), (None, None, None));
        assert_eq!((clean.tags.len(), clean.tags[1].as_str()), (MAX_TAGS, "t1"));
        for address in ["https://user:pass@host/", "https://", "http://a b", "https://h/\u{202e}", "ftp://h/"]
        {
            assert_eq!(clean_url(address), None, "{address}");
        }
        let long = format!("https://h/{}", "x".repeat(MAX_URL));
        assert_eq!(clean_url(&long), None);
    }

    #[test]
    fn two_sources_are_joined_only_about_one_commit() {
        let ci = RunProvenance { commit: Some(SHA.into()), ..RunProvenance::default() };
        let git = RunProvenance { author: Some("Ann".into()), ..ci.clone() };
        assert_eq!(ci.clone().or(git).author.as_deref(), Some("Ann"));
        let other = RunProvenance {
            commit: Some("f".repeat(40)),
            author: Some("Bob".into()),
            ..RunProvenance::default()
        };
        assert_eq!(ci.or(other).author, None);
    }

    #[test]
    fn a_line_says_what_is_known() {
        let known = RunProvenance {
            branch: Some("main".into()),
            commit: Some(SHA.into()),
            author: Some("Ann".into()),
            tags: vec!["nightly".into(), "gpt".into()],
            ci_url: None,
        };
        assert_eq!(known.line(), "main 0123456789 by Ann (nightly, gpt)");
        assert_eq!(RunProvenance::default().line(), "");
    }
}
