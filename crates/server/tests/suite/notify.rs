//! People are told: by e-mail and by webhooks, at least once, and not in quiet hours.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jurist_core::alert;
use jurist_core::dialect::{MailSecurity, MailSettings};
use jurist_core::grade::Time;
use jurist_server::{Environment, ServerSettings, apply_alert_signal, snooze_alert_for_hours};
use jurist_store::clock;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, served, until, with_accounts};
use crate::smtp::{Smtp, Wire, smtp};

const SECRET: &str = "a random key of this server, for tests";
const PASSWORD: &str = "smtp-password-4711";

fn settings() -> ServerSettings {
    let variables = [("JURIST_SECRET", SECRET), ("SMTP_PASSWORD", PASSWORD)];
    let mut settings = ServerSettings::default();
    settings.work.environment =
        Environment::new(variables.map(|variable| (variable.0.to_owned(), variable.1.to_owned())));
    settings.work.allow_private_network = true;
    settings
}

/// Mail goes to this server.
fn mailing(server: &Smtp, wire: Wire, settings: ServerSettings) -> (ServerSettings, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &server.certificate).unwrap();
    let mut settings = settings;
    settings.work.settings.network.ca = Some(file.path().display().to_string());
    settings.work.settings.mail = Some(MailSettings {
        host: "localhost".to_owned(),
        port: Some(server.port),
        security: match wire {
            Wire::Plain => MailSecurity::Off,
            Wire::StartTls => MailSecurity::StartTls,
            Wire::Tls => MailSecurity::Tls,
        },
        user: (wire != Wire::Plain).then(|| "jurist".to_owned()),
        password: Some("SMTP_PASSWORD".to_owned()),
        from: "Jurist <jurist@example.org>".to_owned(),
    });
    (settings, file)
}

impl Place {
    async fn notifications(&self, body: Json) -> Json {
        let answer = self.ask(Method::PATCH, "/api/v1/notifications", &[], body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    async fn raise(&self) {
        let signal = alert::monitor_paused_signal("triage", Some("the key is not accepted"));
        apply_alert_signal(&self.app.store, self.app.default_project, &signal, clock::current_time())
            .await
            .unwrap();
    }

    async fn resolve(&self) {
        let signal = alert::monitor_paused_signal("triage", None);
        apply_alert_signal(&self.app.store, self.app.default_project, &signal, clock::current_time())
            .await
            .unwrap();
    }

    async fn until_done(&self) {
        until(async || {
            let dead = self.app.store.dead_jobs(None, None, 5).await.unwrap().items;
            assert!(dead.is_empty(), "everything is sent: {dead:?}");
            self.app.store.job_counts(None).await.unwrap().is_empty()
        })
        .await;
    }
}

#[test]
fn mail_goes_over_every_kind_of_connection_and_comes_again_after_a_refusal() {
    for wire in [Wire::Plain, Wire::StartTls, Wire::Tls] {
        let server = smtp(wire, 1);
        let (settings, _file) = mailing(&server, wire, settings());
        served(&settings, |place| async move {
            place.workers(2);
            place.notifications(json!({ "mail": ["ann@example.org", "bob@example.org"] })).await;
            place.raise().await;
            place.until_done().await;
            place.resolve().await;
            place.until_done().await;
            let alert = &place.get("/api/v1/alerts?all=true").await["items"][0];
            assert!(alert["sent"].is_string(), "{alert}");
        });
        let mailed = server.mailed.lock().unwrap();
        assert!(matches!(mailed.len(), 2 | 4), "{} mails over {wire:?}", mailed.len());
        let mail = &mailed[0];
        assert_eq!(
            (mail.from.as_str(), mail.to.join(" ")),
            ("jurist@example.org", "ann@example.org bob@example.org".into())
        );
        assert!(
            mail.text.contains("Subject: [Jurist] default: triage is paused: the key is not accepted"),
            "{}",
            mail.text
        );
        assert!(mail.text.contains("Message-ID: <alr_"), "{}", mail.text);
        assert!(mailed[1].text.contains("default: resolved: triage is paused"), "{}", mailed[1].text);
        assert_eq!(mail.is_secret, wire != Wire::Plain);
        let credentials = mail.credentials.as_ref().map(|credential| STANDARD.decode(credential).unwrap());
        assert_eq!(credentials, (wire != Wire::Plain).then(|| format!("\0jurist\0{PASSWORD}").into_bytes()));
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_not_believed() {
    let (server, stranger) = (smtp(Wire::StartTls, 0), smtp(Wire::StartTls, 0));
    let (mut settings, _file) = mailing(&server, Wire::StartTls, settings());
    settings.work.settings.mail.as_mut().unwrap().port = Some(stranger.port);
    served(&settings, |place| async move {
        place.workers(1);
        place.notifications(json!({ "mail": ["ann@example.org"] })).await;
        place.raise().await;
        let tried = "SELECT COUNT(*) FROM jobs WHERE state = 'waiting' AND error IS NOT NULL";
        until(async || place.scene.number(tried).await.unwrap() == 1).await;
        assert_eq!(place.get("/api/v1/jobs").await[0]["n"], 1, "it waits to be tried again");
    });
    assert!(stranger.mailed.lock().unwrap().is_empty());
}

#[test]
fn owners_are_told_where_nobody_is_named() {
    let server = smtp(Wire::Plain, 0);
    let (settings, _file) = mailing(&server, Wire::Plain, ServerSettings { ..settings() });
    let settings = ServerSettings { access: with_accounts().access, ..settings };
    served(&settings, |place| async move {
        place.workers(1);
        let cookie = place.owner().await;
        let tried =
            place.ask(Method::POST, "/api/v1/notifications/try", &[("cookie", &cookie)], Json::Null).await;
        assert_eq!(tried.status, StatusCode::OK, "{}", tried.text);
        place.until_done().await;
    });
    let mailed = server.mailed.lock().unwrap();
    assert!(mailed.iter().all(|mailed| mailed.to == ["ada@example.org"]) && !mailed.is_empty());
    assert!(mailed[0].text.contains("this is a test notification"), "{}", mailed[0].text);
}

/// A request to a webhook: its headers and its body.
type Hooked = (axum::http::HeaderMap, String);

/// Somebody who listens; the first so many are refused.
struct Listener {
    address: String,
    heard: Arc<Mutex<Vec<Hooked>>>,
}

async fn listener(n_refused: usize) -> Listener {
    let heard: Arc<Mutex<Vec<Hooked>>> = Arc::default();
    let kept = Arc::clone(&heard);
    let refused = Arc::new(Mutex::new(n_refused));
    let take = move |headers: axum::http::HeaderMap, body: String| async move {
        kept.lock().unwrap().push((headers, body));
        let mut refused = refused.lock().unwrap();
        let is_refused = 0 < *refused;
        *refused = refused.saturating_sub(1);
        if is_refused { StatusCode::BAD_GATEWAY } else { StatusCode::NO_CONTENT }
    };
    let router = axum::Router::new().route("/hook", axum::routing::post(take));
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/hook?token=very-secret", socket.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(socket, router).await });
    Listener { address, heard }
}

/// As any receiver checks it, with nothing of ours.
fn is_signed(secret: &str, (headers, body): &Hooked) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let seconds: i64 = header("webhook-timestamp").parse().unwrap();
    assert!((seconds - clock::current_time().micros() / 1_000_000).abs() < 300, "an old one is no proof");
    let signed = format!("{}.{seconds}.{body}", header("webhook-id"));
    let given = STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    ring::hmac::verify(&key, signed.as_bytes(), &given).is_ok()
}

#[test]
fn webhooks_are_signed_come_again_and_keep_their_secrets() {
    served(&settings(), |place| async move {
        let listener = listener(1).await;
        place.workers(1);
        let set = place.notifications(json!({ "webhook": listener.address })).await;
        let secret = set["webhook"]["secret"].as_str().unwrap().to_owned();
        place.raise().await;
        place.raise().await;
        place.until_done().await;
        let heard = listener.heard.lock().unwrap().clone();
        assert_eq!(heard.len(), 2, "refused once, and told once though it was raised twice");
        assert!(heard.iter().all(|heard| is_signed(&secret, heard)));
        assert_eq!(heard[0].0["webhook-id"], heard[1].0["webhook-id"], "whoever hears it twice knows");
        let body: Json = serde_json::from_str(&heard[1].1).unwrap();
        assert_eq!(
            (&body["type"], &body["data"]["alert"]["kind"]),
            (&json!("alert.raised"), &json!("monitor_paused"))
        );
        let text = "default: triage is paused: the key is not accepted";
        assert_eq!((&body["text"], &body["data"]["text"]), (&json!(text), &json!(text)), "as Slack wants it");
        let forged = (heard[0].0.clone(), heard[0].1.replace("paused", "fine"));
        assert!(!is_signed(&secret, &forged));

        // Neither the address nor the secret can be had again, from the API or from the database.
        let shown = place.get("/api/v1/notifications").await.to_string()
            + &place.get("/api/v1/audit").await.to_string();
        let kept = format!("{:?}", place.app.store.projects().await.unwrap());
        for hidden in ["very-secret", secret.as_str(), SECRET] {
            assert!(!shown.contains(hidden) && !kept.contains(hidden), "{hidden}");
        }
        // Set again, it is signed anew.
        let set = place.notifications(json!({ "webhook": listener.address })).await;
        let newer = set["webhook"]["secret"].as_str().unwrap().to_owned();
        place.resolve().await;
        place.until_done().await;
        let last = listener.heard.lock().unwrap().last().unwrap().clone();
        assert!(is_signed(&newer, &last) && !is_signed(&secret, &last));
        assert!(last.1.contains("alert.resolved"), "{}", last.1);
        place.notifications(json!({ "webhook": null })).await;
        assert_eq!(place.get("/api/v1/notifications").await["webhook"], Json::Null);
    });
}

#[test]
fn in_quiet_hours_it_waits_and_is_not_lost() {
    served(&settings(), |place| async move {
        let listener = listener(0).await;
        place.workers(1);
        let hour = |by: i64| {
            let time = Time::from_micros(clock::current_time().micros() + by * 3_600_000_000).to_string();
            time[11..16].to_owned()
        };
        let quiet = json!({ "from": hour(-1), "until": hour(1), "zone": "+00:00" });
        place.notifications(json!({ "webhook": listener.address, "quiet_hours": quiet })).await;
        place.raise().await;
        // A worker looked at it, and put it off.
        let wait = async || {
            let waiting = place.app.store.job_counts(None).await.unwrap();
            assert_eq!(waiting.len(), 1, "{waiting:?}");
            (waiting[0].oldest.micros() - clock::current_time().micros()) / 1_000_000
        };
        until(async || 3_000 <= wait().await).await;
        let wait = wait().await;
        assert!(wait <= 3_600, "{wait} s");
        assert!(listener.heard.lock().unwrap().is_empty());
        // The hour has come.
        place.notifications(json!({ "quiet_hours": null })).await;
        place.scene.execute("UPDATE jobs SET ready = 0").await.unwrap();
        place.until_done().await;
        assert_eq!(listener.heard.lock().unwrap().len(), 1);
    });
}

#[test]
fn what_cannot_be_set_is_refused_with_the_reason() {
    let mut strict = settings();
    strict.work.allow_private_network = false;
    served(&strict, |place| async move {
        let check = async |body: Json, status: u16, said: &str| {
            let answer = place.ask(Method::PATCH, "/api/v1/notifications", &[], body).await;
            assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
            assert!(answer.text.contains(said), "{}", answer.text);
        };
        check(json!({ "webhook": "http://127.0.0.1:1/hook" }), 422, "--allow-private-network").await;
        check(json!({ "webhook": "http://169.254.169.254/latest" }), 422, "--allow-private-network").await;
        check(json!({ "webhook": "ftp://example.org" }), 400, "https://example.org/hook").await;
        check(json!({ "webhook": "https://user:pass@example.org/" }), 400, "https://example.org/hook").await;
        check(json!({ "webhook": "https://[::1" }), 400, "https://example.org/hook").await;
        check(json!({ "webhook": "https:///hook" }), 400, "https://example.org/hook").await;
        check(json!({ "mail": ["nobody"] }), 400, "`nobody`").await;
        check(json!({ "mail": ["a@example.org\r\nBcc: b@example.org"] }), 400, "is not an address").await;
        check(json!({ "quiet_hours": { "from": "22:00", "until": "7", "zone": "UTC" } }), 400, "`7`").await;
        check(json!({ "quiet_hours": { "from": "22:00", "until": "07:00", "zone": "Mars" } }), 400, "Mars")
            .await;
        check(json!({ "pager": 1 }), 400, "pager").await;
        check(json!({ "webhook": "https://hooks.example.org/x" }), 200, "whsec_").await;
    });
    let mut without = settings();
    without.work.environment = Environment::default();
    served(&without, |place| async move {
        let body = json!({ "webhook": "https://hooks.example.org/x" });
        let answer = place.ask(Method::PATCH, "/api/v1/notifications", &[], body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.text.contains("JURIST_SECRET is not set"), "{}", answer.text);
    });
}

#[test]
fn a_snoozed_alert_is_silent_until_its_reminder() {
    served(&settings(), |place| async move {
        let listener = listener(0).await;
        place.workers(1);
        place.notifications(json!({ "webhook": listener.address })).await;
        place.raise().await;
        place.until_done().await;
        let events = || -> Vec<Json> {
            let heard = listener.heard.lock().unwrap();
            heard
                .iter()
                .map(|(_, body)| serde_json::from_str::<Json>(body).unwrap()["type"].clone())
                .collect()
        };
        assert_eq!(events(), ["alert.raised"]);
        let id = place.get("/api/v1/alerts").await["items"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/alerts/{id}/snooze");
        let snooze = async |hours: i64| place.ask(Method::POST, &path, &[], json!({ "hours": hours })).await;
        assert_eq!(snooze(2_161).await.status, StatusCode::BAD_REQUEST);
        assert_eq!(snooze(-1).await.status, StatusCode::BAD_REQUEST);
        let snoozed = snooze(24).await.json();
        assert!(snoozed["snoozed_until"].is_string(), "{snoozed}");
        assert!(snoozed["acknowledged"].is_null(), "{snoozed}");

        // A worker that takes the reminder too early puts it off.
        let wait = async || {
            let waiting = place.app.store.job_counts(None).await.unwrap();
            assert_eq!(waiting.len(), 1, "{waiting:?}");
            (waiting[0].oldest.micros() - clock::current_time().micros()) / 3_600_000_000
        };
        place.scene.execute("UPDATE jobs SET ready = 0").await.unwrap();
        until(async || 22 <= wait().await).await;
        assert_eq!(events(), ["alert.raised"]);
        let audit = place.get("/api/v1/audit?action=alert.snooze").await;
        assert_eq!(audit["items"][0]["body"]["hours"], 24, "{audit}");

        // As if it had been snoozed a day ago; the reminder of the longer snooze is obsolete.
        let snooze_until_soon = async || {
            let now = Time::from_micros(clock::current_time().micros() - 24 * 3_600_000_000 + 500_000);
            let (store, project) = (&place.app.store, place.app.default_project);
            assert!(snooze_alert_for_hours(store, project, id.parse().unwrap(), 24, now).await.unwrap());
        };
        snooze_until_soon().await;
        until(async || events().len() == 2).await;
        assert_eq!(events(), ["alert.raised", "alert.reminder"]);
        place.scene.execute("UPDATE jobs SET ready = 0").await.unwrap();
        place.until_done().await;

        // A reminder of an alert that was acknowledged meanwhile is not sent.
        snooze_until_soon().await;
        place.ask(Method::POST, &format!("/api/v1/alerts/{id}/acknowledge"), &[], Json::Null).await;
        place.until_done().await;
        assert_eq!(events().len(), 2);
    });
}

#[test]
fn an_alert_is_seen_by_the_first_who_says_so() {
    served(&settings(), |place| async move {
        place.raise().await;
        let id = place.get("/api/v1/alerts").await["items"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/alerts/{id}/acknowledge");
        let seen = place.ask(Method::POST, &path, &[], Json::Null).await.json();
        let again = place.ask(Method::POST, &path, &[], Json::Null).await.json();
        assert!(seen["acknowledged"].is_string());
        assert_eq!(seen, again);
        let none = "/api/v1/alerts/alr_0190c4d27e1b7a3c9f50b8e6d1a24c7e/acknowledge";
        assert_eq!(place.ask(Method::POST, none, &[], Json::Null).await.status, StatusCode::NOT_FOUND);
        let audit = place.get("/api/v1/audit?action=alert.acknowledge").await;
        assert_eq!(audit["items"].as_array().unwrap().len(), 1);
    });
}
