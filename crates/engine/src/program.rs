//! Runs external programs with input, limits, and clean-up of their processes.

use std::process::Stdio;
use std::time::Duration;

use jurist_core::grade::TRACEBACK_TITLE;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::platform::{ProcessTree, ProgramPipes};

/// Default limit of a program's output.
const MAX_BYTES: usize = 64 << 20;

/// Characters of standard error that an error message quotes: the last ones, where the reason usually is.
const COMPLAINT_CHARS: usize = 300;

/// Characters of a traceback that are kept.
const TRACEBACK_CHARS: usize = 2_000;

/// Time to read the output pipes after the program has ended, if its child processes keep them open.
const GRACE: Duration = Duration::from_secs(1);

/// Limits of one run.
#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits {
    pub time: Duration,
    /// Most bytes on standard output.
    pub max_bytes: usize,
}

impl From<Duration> for ProgramLimits {
    fn from(time: Duration) -> Self {
        Self { time, max_bytes: MAX_BYTES }
    }
}

/// Why a program gave no usable output.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("took longer than {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("wrote more than {0} bytes")]
    TooLarge(usize),
    #[error("ended with {status}: {complaint}")]
    Status { status: std::process::ExitStatus, complaint: String },
    #[error("was lost: {0}")]
    Lost(std::io::Error),
}

/// Runs a program, and returns its standard output if it exits with success in time.
pub async fn run_program(
    mut command: Command,
    input: Option<&[u8]>,
    limits: impl Into<ProgramLimits>,
) -> Result<Vec<u8>, ProgramError> {
    let ProgramLimits { time, max_bytes } = limits.into();
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Dropping the tree kills all processes that the program started, on every path out of this function.
    let mut tree = ProcessTree::spawn(command).map_err(ProgramError::NotStarted)?;
    let ProgramPipes { stdin, stdout, stderr } = tree.take_pipes();
    let run = async {
        let send = async move {
            // A program that does not read its input is valid, so a broken pipe is ignored.
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                let _ = stdin.write_all(input).await;
            }
            Ok::<(), ProgramError>(())
        };
        let read = read_output_up_to(stdout.expect("it is piped"), max_bytes);
        let complaint = read_tail(stderr.expect("it is piped"));
        // Too much output ends the run at once, without waiting for the other pipes.
        let streams = async { tokio::try_join!(send, read, complaint) };
        tokio::pin!(streams);
        let (status, ((), out, complaint)) = tokio::select! {
            streams = &mut streams => (tree.wait().await, streams?),
            status = tree.wait() => match tokio::time::timeout(GRACE, &mut streams).await {
                Ok(streams) => (status, streams?),
                // A child process that was left behind keeps the pipes open.
                Err(_) => {
                    tree.kill();
                    (status, streams.await?)
                }
            },
        };
        Ok::<_, ProgramError>((status.map_err(ProgramError::Lost)?, out, complaint))
    };
    let (status, out, complaint) =
        tokio::time::timeout(time, run).await.map_err(|_| ProgramError::Timeout(time))??;
    if status.success() {
        return Ok(out);
    }
    Err(ProgramError::Status { status, complaint: shorten_complaint(&String::from_utf8_lossy(&complaint)) })
}

/// The end of what a program complained about. Of a traceback of Python, the exception comes first, and the traceback
/// after it, where reports cut it off.
fn shorten_complaint(text: &str) -> String {
    let text = text.trim();
    let traceback = text.rfind(TRACEBACK_TITLE).map(|start| &text[start..]);
    let is_exception = |line: &&str| !line.is_empty() && !line.starts_with(char::is_whitespace);
    match traceback.and_then(|traceback| Some((traceback, traceback.lines().skip(1).find(is_exception)?))) {
        Some((traceback, exception)) => {
            let exception: String = exception.chars().take(COMPLAINT_CHARS).collect();
            let steps = take_end(traceback.trim_start_matches(TRACEBACK_TITLE).trim_end(), TRACEBACK_CHARS);
            format!("{exception}\n{TRACEBACK_TITLE}\n{}", steps.trim_start_matches('\n'))
        }
        None => take_end(text, COMPLAINT_CHARS),
    }
}

/// The end of a text, from the start of a line if it has several.
fn take_end(text: &str, n_chars: usize) -> String {
    let start = text.char_indices().rev().nth(n_chars - 1).map_or(0, |(start, _)| start);
    if start == 0 {
        return text.to_owned();
    }
    let end = &text[start..];
    end.split_once('\n').map_or(end, |(_, lines)| lines).to_owned()
}

async fn read_output_up_to(
    mut from: impl AsyncRead + Unpin,
    max_bytes: usize,
) -> Result<Vec<u8>, ProgramError> {
    let mut out = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    (&mut from).take(limit).read_to_end(&mut out).await.map_err(ProgramError::Lost)?;
    if max_bytes < out.len() { Err(ProgramError::TooLarge(max_bytes)) } else { Ok(out) }
}

/// Reads to the end, and keeps the last bytes in bounded memory.
async fn read_tail(mut from: impl AsyncRead + Unpin) -> Result<Vec<u8>, ProgramError> {
    // A character has at most four bytes.
    const KEPT: usize = 4 * TRACEBACK_CHARS;
    let (mut tail, mut buffer) = (Vec::new(), vec![0; 8192]);
    loop {
        let n = from.read(&mut buffer).await.map_err(ProgramError::Lost)?;
        if n == 0 {
            return Ok(tail);
        }
        tail.extend_from_slice(&buffer[..n]);
        if 2 * KEPT < tail.len() {
            tail.drain(..tail.len() - KEPT);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        command
    }

    /// Whether a process exists and is not a zombie.
    fn is_alive(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    }

    /// Waits, because the kernel ends a killed process with a short delay.
    fn wait_until_dead(pid: &str) {
        for _ in 0..2_000 {
            if !is_alive(pid) {
                return;
            }
            std::thread::yield_now();
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{pid} is still alive");
    }

    #[tokio::test]
    async fn what_a_program_started_ends_at_its_time_limit() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        // The grandchild keeps the pipes open as well.
        let script = format!("(sh -c 'sleep 600 & echo $! > {}; wait') & wait", pid.display());
        let broken = run_program(shell(&script), None, Duration::from_millis(500)).await;
        assert!(matches!(broken, Err(ProgramError::Timeout(_))), "{broken:?}");
        wait_until_dead(&std::fs::read_to_string(pid).expect("it had begun"));
    }

    #[tokio::test]
    async fn processes_that_leave_the_group_or_keep_forking_are_killed() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        // Each process starts two more, every other one in a session of its own: 63 in all.
        let fork = folder.path().join("fork.sh");
        let text = format!(
            "echo $$ >> {}\n[ $1 -eq 0 ] && exec sleep 600\nn=$(($1-1))\nsh {fork} $n &\nsetsid sh {fork} $n &\nwait\n",
            pids.display(),
            fork = fork.display()
        );
        std::fs::write(&fork, text).unwrap();
        let script = format!("sh {} 5 & sleep 600", fork.display());
        let run =
            tokio::spawn(async move { run_program(shell(&script), None, Duration::from_secs(60)).await });
        let read = || std::fs::read_to_string(&pids).unwrap_or_default();
        for _ in 0..6_000 {
            if read().lines().count() == 63 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // An interrupt drops the future of the run.
        run.abort();
        let _ = run.await;
        let pids = read();
        assert_eq!(pids.lines().count(), 63, "{pids}");
        for pid in pids.lines() {
            wait_until_dead(pid);
        }
    }

    #[tokio::test]
    async fn what_a_program_started_ends_when_it_does() {
        let script = "sleep 600 > /dev/null 2>&1 < /dev/null & echo $!";
        let pid = run_program(shell(script), None, Duration::from_secs(20)).await.unwrap();
        wait_until_dead(&String::from_utf8(pid).unwrap());
    }

    #[test]
    fn a_long_complaint_begins_with_a_line() {
        assert_eq!(shorten_complaint(" one\ntwo\n"), "one\ntwo");
        let traceback = "starting\nTraceback (most recent call last):\n  File \"a.py\", line 2, in ask\n    x[1]\nKeyError: 1\n";
        assert_eq!(
            shorten_complaint(traceback),
            "KeyError: 1\nTraceback (most recent call last):\n  File \"a.py\", line 2, in ask\n    x[1]\nKeyError: 1"
        );
        let long = format!("{}\nlast line", "x".repeat(COMPLAINT_CHARS));
        assert_eq!(shorten_complaint(&long), "last line");
        assert_eq!(shorten_complaint(&"y".repeat(2 * COMPLAINT_CHARS)).len(), COMPLAINT_CHARS);
    }

    #[tokio::test]
    async fn a_flood_is_no_answer_and_does_not_last() {
        let limits = ProgramLimits { time: Duration::from_secs(60), max_bytes: 10_000 };
        let flood =
            run_program(shell("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"), None, limits).await;
        assert!(matches!(flood, Err(ProgramError::TooLarge(10_000))), "{flood:?}");
        // The end of a long standard error is kept.
        let script = "i=0; while [ $i -lt 5000 ]; do echo complaint $i >&2; i=$((i+1)); done; exit 3";
        match run_program(shell(script), None, limits).await {
            Err(ProgramError::Status { complaint, .. }) => {
                assert!(complaint.ends_with("complaint 4999") && complaint.len() <= 300, "{complaint}");
            }
            other => panic!("{other:?}"),
        }
    }
}
