//! E-mail.

use std::time::Duration;

use jurist_core::dialect::{MailSecurity, MailSettings};
use jurist_core::source::is_hidden_steering;
use jurist_engine::load;
use jurist_store::accounts::ProjectRole;
use jurist_store::{ProjectId, Store, StoreError};
use lettre::message::{Mailbox, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use super::settings::Notifications;
use super::{DeliveryContext, NotificationEvent, NotificationMessage};
use crate::job::{JobError, Work};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Most recipients of a project; use a mailing list for more.
const MOST: usize = 20;

/// Why this machine cannot send e-mail.
#[derive(Debug, thiserror::Error)]
pub enum NotMailed {
    #[error("`mail` is not set in .jurist/config.yaml of this machine")]
    NoServer,
    #[error("`{0}` is not an address such as ann@example.org")]
    Address(String),
    #[error("an alert goes to {MOST} addresses at most")]
    Many,
    #[error("the variable `{0}` holds no password")]
    NoPassword(String),
    #[error("the certificates to trust cannot be used: {0}")]
    Certificates(String),
    #[error("the mail cannot be written: {0}")]
    Message(#[from] lettre::error::Error),
    #[error("the mail server refused it: {0}")]
    Smtp(#[from] lettre::transport::smtp::Error),
}

pub(super) async fn send_notification_mail(
    context: DeliveryContext<'_>,
    settings: &Notifications,
    notification: &NotificationMessage<'_>,
) -> Result<(), JobError> {
    let recipients = match &settings.mail {
        Some(recipients) => recipients.clone(),
        None => owners(context.store, notification.project.id).await?,
    };
    if recipients.is_empty() {
        // Removed in the meantime.
        return Ok(());
    }
    // The cause may be fixed on this machine or on another worker's, so it is retried.
    transmit_mail(context.work, &recipients, notification)
        .await
        .map_err(|not_mailed| JobError::Retry(not_mailed.to_string()))
}

/// Refuses invalid addresses.
pub fn check_recipients(recipients: &[String]) -> Result<(), NotMailed> {
    match recipients.iter().find(|recipient| recipient.parse::<Address>().is_err()) {
        Some(wrong) => Err(NotMailed::Address(wrong.clone())),
        None if MOST < recipients.len() => Err(NotMailed::Many),
        None => Ok(()),
    }
}

/// Addresses of the project's owners.
pub(super) async fn owners(store: &Store, project: ProjectId) -> Result<Vec<String>, StoreError> {
    let mut addresses = Vec::new();
    for member in store.members(project).await? {
        if member.role == ProjectRole::Owner {
            let account = store.account(member.account).await?;
            addresses.extend(account.disabled.is_none().then_some(account.email));
        }
    }
    Ok(addresses)
}

async fn transmit_mail(
    work: &Work,
    recipients: &[String],
    notification: &NotificationMessage<'_>,
) -> Result<(), NotMailed> {
    let mail = work.settings.mail.as_ref().ok_or(NotMailed::NoServer)?;
    let message = build_mail_message(mail, recipients, notification)?;
    transport(mail, work)?.send(message).await?;
    Ok(())
}

fn build_mail_message(
    mail: &MailSettings,
    recipients: &[String],
    notification: &NotificationMessage<'_>,
) -> Result<Message, NotMailed> {
    let mailbox = |text: &str| text.parse::<Mailbox>().map_err(|_| NotMailed::Address(text.to_owned()));
    let from = mailbox(&mail.from)?;
    let id = format!("<{}@{}>", notification.id, from.email.domain());
    let title =
        notification.title().replace(|letter: char| letter.is_control() || is_hidden_steering(letter), " ");
    let mut message = Message::builder()
        .from(from)
        .message_id(Some(id))
        .subject(format!("[Jurist] {title}"))
        .header(ContentType::TEXT_PLAIN);
    for recipient in recipients {
        message = message.to(mailbox(recipient)?);
    }
    Ok(message.body(render_mail_text(notification))?)
}

fn render_mail_text(notification: &NotificationMessage<'_>) -> String {
    let mut text = format!("{}\n", notification.title());
    if let Some(alert) = notification.alert {
        text += &format!("\nsince {}\n", alert.raised);
        if let (NotificationEvent::Resolved, Some(resolved)) = (notification.event, alert.resolved) {
            text += &format!("resolved {resolved}\n");
        }
        for (name, value) in alert.facts.as_object().into_iter().flatten() {
            text += &format!("{name}: {value}\n");
        }
        text += &format!("\n{}\n", alert.id);
    }
    text
}

fn transport(mail: &MailSettings, work: &Work) -> Result<AsyncSmtpTransport<Tokio1Executor>, NotMailed> {
    let (port, tls) = match mail.security {
        MailSecurity::StartTls => (587, Tls::Required(parameters(mail, work)?)),
        MailSecurity::Tls => (465, Tls::Wrapper(parameters(mail, work)?)),
        MailSecurity::Off => (25, Tls::None),
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&mail.host)
        .port(mail.port.unwrap_or(port))
        .tls(tls)
        .timeout(Some(TIMEOUT));
    if let Some(user) = &mail.user {
        let variable = mail.password.clone().unwrap_or_default();
        let password = work.environment.get(&variable).ok_or(NotMailed::NoPassword(variable))?;
        builder = builder.credentials(Credentials::new(user.clone(), password));
    }
    Ok(builder.build())
}

fn parameters(mail: &MailSettings, work: &Work) -> Result<TlsParameters, NotMailed> {
    let mut builder = TlsParameters::builder(mail.host.clone());
    if let Some(path) = &work.settings.network.ca {
        let pem = load::read_text_file(path.as_ref())
            .map_err(|read_error| NotMailed::Certificates(read_error.to_string()))?;
        builder = builder.add_root_certificate(Certificate::from_pem(pem.as_bytes())?);
    }
    Ok(builder.build()?)
}
