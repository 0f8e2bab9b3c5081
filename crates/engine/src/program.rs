//! Programs that are given something and say something.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// What a program may say, by default.
const MAX_BYTES: usize = 64 << 20;

/// The reason of a failure stands at the end of what a program complained about.
const COMPLAINT_CHARS: usize = 300;

/// What a program that has ended left behind may still say.
const GRACE: Duration = Duration::from_secs(1);

/// Bounds of one run.
#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits {
    pub time: Duration,
    /// On its standard output.
    pub max_bytes: usize,
}

impl From<Duration> for ProgramLimits {
    fn from(time: Duration) -> Self {
        Self { time, max_bytes: MAX_BYTES }
    }
}

/// Why a program said nothing that counts.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("took longer than {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("wrote more than {0} bytes")]
    TooLarge(usize),
    #[error("ended with {status}: {said}")]
    Status { status: std::process::ExitStatus, said: String },
    #[error("was lost: {0}")]
    Lost(std::io::Error),
}

/// What a program says on its standard output, if it ends well and in time.
pub async fn output(
    mut command: Command,
    input: Option<&[u8]>,
    limits: impl Into<ProgramLimits>,
) -> Result<Vec<u8>, Broken> {
    let ProgramLimits { time, max_bytes } = limits.into();
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(Broken::NotStarted)?;
    // However this ends, nothing that the program started outlives it.
    let group = ProcessGroup(child.id());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let run = async {
        let send = async move {
            // A program that does not read its input may still answer.
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                let _ = stdin.write_all(input).await;
            }
            Ok::<(), Broken>(())
        };
        let read = read_up_to(stdout.expect("it is piped"), max_bytes);
        let complaint = read_tail(stderr.expect("it is piped"));
        // A flood ends the run at once, without waiting for the other ends.
        let said = async { tokio::try_join!(send, read, complaint) };
        tokio::pin!(said);
        let (status, ((), out, complaint)) = tokio::select! {
            said = &mut said => (child.wait().await, said?),
            status = child.wait() => match tokio::time::timeout(GRACE, &mut said).await {
                Ok(said) => (status, said?),
                // Somebody whom it left behind holds on to its ends.
                Err(_) => {
                    group.kill();
                    (status, said.await?)
                }
            },
        };
        Ok::<_, Broken>((status.map_err(Broken::Lost)?, out, complaint))
    };
    let (status, out, complaint) =
        tokio::time::timeout(time, run).await.map_err(|_| Broken::Timeout(time))??;
    if status.success() {
        return Ok(out);
    }
    let said = String::from_utf8_lossy(&complaint);
    let start = said.trim().char_indices().rev().nth(COMPLAINT_CHARS - 1).map_or(0, |it| it.0);
    Err(Broken::Status { status, said: said.trim()[start..].to_owned() })
}

async fn read_up_to(mut from: impl AsyncRead + Unpin, max_bytes: usize) -> Result<Vec<u8>, Broken> {
    let mut out = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    (&mut from).take(limit).read_to_end(&mut out).await.map_err(Broken::Lost)?;
    if max_bytes < out.len() { Err(Broken::TooLarge(max_bytes)) } else { Ok(out) }
}

/// The end of what is read, however much it is.
async fn read_tail(mut from: impl AsyncRead + Unpin) -> Result<Vec<u8>, Broken> {
    // Four bytes to a character at most.
    const KEPT: usize = 4 * COMPLAINT_CHARS;
    let (mut tail, mut buffer) = (Vec::new(), vec![0; 8192]);
    loop {
        let n = from.read(&mut buffer).await.map_err(Broken::Lost)?;
        if n == 0 {
            return Ok(tail);
        }
        tail.extend_from_slice(&buffer[..n]);
        if 2 * KEPT < tail.len() {
            tail.drain(..tail.len() - KEPT);
        }
    }
}

/// A program and all that it started, by the number of the first.
struct ProcessGroup(Option<u32>);

impl ProcessGroup {
    fn kill(&self) {
        if let Some(id) = self.0 {
            // Where there is no such command, the program itself is killed all the same.
            let mut kill = std::process::Command::new("kill");
            let _ = kill.args(["-KILL", "--", &format!("-{id}")]).stderr(Stdio::null()).status();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
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

    /// Whether a process is still there and not only waits to be buried.
    fn is_alive(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    }

    /// The kernel ends a killed process soon, not at once.
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
        let broken = output(shell(&script), None, Duration::from_millis(500)).await;
        assert!(matches!(broken, Err(Broken::Timeout(_))), "{broken:?}");
        wait_until_dead(&std::fs::read_to_string(pid).expect("it had begun"));
    }

    #[tokio::test]
    async fn what_a_program_started_ends_when_it_does() {
        let script = "sleep 600 > /dev/null 2>&1 < /dev/null & echo $!";
        let pid = output(shell(script), None, Duration::from_secs(20)).await.unwrap();
        wait_until_dead(&String::from_utf8(pid).unwrap());
    }

    #[tokio::test]
    async fn a_flood_is_no_answer_and_does_not_last() {
        let limits = ProgramLimits { time: Duration::from_secs(60), max_bytes: 10_000 };
        let flood =
            output(shell("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"), None, limits).await;
        assert!(matches!(flood, Err(Broken::TooLarge(10_000))), "{flood:?}");
        // Of endless complaints the end is kept.
        let script = "i=0; while [ $i -lt 5000 ]; do echo complaint $i >&2; i=$((i+1)); done; exit 3";
        match output(shell(script), None, limits).await {
            Err(Broken::Status { said, .. }) => {
                assert!(said.ends_with("complaint 4999") && said.len() <= 300, "{said}");
            }
            other => panic!("{other:?}"),
        }
    }
}
