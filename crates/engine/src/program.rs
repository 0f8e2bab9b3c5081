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
    let mut child = command.spawn().map_err(Broken::NotStarted)?;
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
    if status.success() {
        return Ok(out);
    }
    // The reason stands at the end.
    let said = String::from_utf8_lossy(&err);
    let at = said.trim().char_indices().rev().nth(299).map_or(0, |it| it.0);
    Err(Broken::Status { status, said: said.trim()[at..].to_owned() })
}
