//! A mail server for tests: the protocol over real sockets, plain or secret, with faults on demand.

use std::sync::{Arc, Mutex};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Plain,
    StartTls,
    Tls,
}

/// A mail as it arrived.
#[derive(Debug, Clone, Default)]
pub struct Mailed {
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    pub is_secret: bool,
    /// What whoever sent it said to be known by.
    pub credentials: Option<String>,
}

/// It lives as long as this.
pub struct Smtp {
    pub port: u16,
    pub mailed: Arc<Mutex<Vec<Mailed>>>,
    /// The certificate to trust, as a file has it.
    pub certificate: String,
    _runtime: tokio::runtime::Runtime,
}

/// So many mails are refused for now before one is taken.
pub fn smtp(wire: Wire, n_refused: usize) -> Smtp {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let acceptor = acceptor(made.cert.der().clone(), made.signing_key.serialize_der());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mailed = Arc::new(Mutex::new(Vec::new()));
    let (kept, refusals) = (Arc::clone(&mailed), Arc::new(Mutex::new(n_refused)));
    runtime.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, kept, refusals) = (acceptor.clone(), Arc::clone(&kept), Arc::clone(&refusals));
            tokio::spawn(async move {
                let mut visit = Visit { wire, kept, refusals, mailed: Mailed::default() };
                if wire == Wire::Tls {
                    let Ok(secret) = acceptor.accept(socket).await else { return };
                    visit.mailed.is_secret = true;
                    let _ = visit.serve(BufStream::new(secret), true).await;
                } else if let Ok(Some(socket)) = visit.serve(BufStream::new(socket), true).await
                    && let Ok(secret) = acceptor.accept(socket.into_inner()).await
                {
                    visit.mailed.is_secret = true;
                    let _ = visit.serve(BufStream::new(secret), false).await;
                }
            });
        }
    });
    Smtp { port, mailed, certificate: made.cert.pem(), _runtime: runtime }
}

fn acceptor(certificate: CertificateDer<'static>, key: Vec<u8>) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.into()))
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

struct Visit {
    wire: Wire,
    kept: Arc<Mutex<Vec<Mailed>>>,
    refusals: Arc<Mutex<usize>>,
    mailed: Mailed,
}

impl Visit {
    /// The connection, where it is to become a secret one.
    async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        mut stream: BufStream<S>,
        greets: bool,
    ) -> std::io::Result<Option<BufStream<S>>> {
        if greets {
            answer(&mut stream, "220 test").await?;
        }
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            let (word, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
            match word.to_uppercase().as_str() {
                "EHLO" if self.wire == Wire::StartTls && !self.mailed.is_secret => {
                    answer(&mut stream, "250-test\r\n250 STARTTLS").await?;
                }
                "EHLO" => answer(&mut stream, "250-test\r\n250 AUTH PLAIN").await?,
                "STARTTLS" => {
                    answer(&mut stream, "220 go").await?;
                    return Ok(Some(stream));
                }
                "AUTH" => {
                    self.mailed.credentials = rest.strip_prefix("PLAIN ").map(str::to_owned);
                    answer(&mut stream, "235 welcome").await?;
                }
                "MAIL" => {
                    self.mailed.from = address(rest);
                    answer(&mut stream, "250 ok").await?;
                }
                "RCPT" => {
                    self.mailed.to.push(address(rest));
                    answer(&mut stream, "250 ok").await?;
                }
                "DATA" => {
                    answer(&mut stream, "354 go on").await?;
                    self.take(&mut stream).await?;
                }
                "QUIT" => {
                    answer(&mut stream, "221 bye").await?;
                    return Ok(None);
                }
                _ => answer(&mut stream, "502 what?").await?,
            }
        }
    }

    async fn take<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut BufStream<S>,
    ) -> std::io::Result<()> {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 || line == ".\r\n" {
                break;
            }
            text.push_str(&line);
        }
        let is_refused = {
            let mut refusals = self.refusals.lock().unwrap();
            let is_refused = 0 < *refusals;
            *refusals = refusals.saturating_sub(1);
            is_refused
        };
        if is_refused {
            return answer(stream, "451 come again").await;
        }
        self.kept.lock().unwrap().push(Mailed { text, ..self.mailed.clone() });
        answer(stream, "250 kept").await
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufStream<S>,
    text: &str,
) -> std::io::Result<()> {
    stream.write_all(format!("{text}\r\n").as_bytes()).await?;
    stream.flush().await
}

/// Of `FROM:<a@b>`.
fn address(text: &str) -> String {
    text.split_once('<').and_then(|text| text.1.split_once('>')).map_or("", |it| it.0).to_owned()
}
