//! Programs that are given something and say something.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// What a program says beyond this is not read.
const MAX_BYTES: u64 = 64 << 20;

/// Why a program said nothing that counts.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("took longer than {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("ended with {status}: {said}")]
    Status { status: std::process::ExitStatus, said: String },
    #[error("was lost: {0}")]
    Lost(std::io::Error),
}

/// What a program says on its standard output, if it ends well and in time.
pub async fn output(
    mut command: Command,
    input: Option<&[u8]>,
    timeout: Duration,
) -> Result<Vec<u8>, Broken> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(Broken::NotStarted)?;
    let mut family = Family(child.id());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = async {
        let send = async move {
            // A program that does not read its input may still answer.
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                let _ = stdin.write_all(input).await;
            }
        };
        let hear = async { stdout.expect("it is piped").take(MAX_BYTES).read_to_end(&mut out).await };
        let overhear = async { stderr.expect("it is piped").take(MAX_BYTES).read_to_end(&mut err).await };
        let ((), heard, overheard) = tokio::join!(send, hear, overhear);
        heard.and(overheard)?;
        child.wait().await
    };
    let ended = tokio::time::timeout(timeout, all).await.map_err(|_| Broken::Timeout(timeout))?;
    let status = ended.map_err(Broken::Lost)?;
    family.0 = None;
    if status.success() {
        return Ok(out);
    }
    // The reason stands at the end.
    let said = String::from_utf8_lossy(&err);
    let at = said.trim().char_indices().rev().nth(299).map_or(0, |it| it.0);
    Err(Broken::Status { status, said: said.trim()[at..].to_owned() })
}

/// A program and all that it started, by its number while it runs: who is not waited for any more ends.
struct Family(Option<u32>);

impl Drop for Family {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            // Where there is no such command, the program itself is killed all the same.
            let mut kill = std::process::Command::new("kill");
            let _ = kill.args(["-KILL", "--", &format!("-{id}")]).stderr(Stdio::null()).status();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_program_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (pid, late) = (folder.path().join("pid"), folder.path().join("late"));
        let script = format!("(sleep 1; echo late > {}) & echo $! > {}; wait", late.display(), pid.display());
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        let broken = output(command, None, Duration::from_millis(300)).await;
        assert!(matches!(broken, Err(Broken::Timeout(_))), "{broken:?}");
        assert!(pid.exists(), "it had begun");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(!late.exists(), "nobody is left to write");
    }
}
