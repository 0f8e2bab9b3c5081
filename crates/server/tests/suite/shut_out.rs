//! Who is disabled, removed or demoted keeps nothing, whatever they made before.

use jurist_server::{Access, ServerSettings};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::annotate::{CONFIG, data};
use crate::model::Act;
use crate::place::{Answer, Place, served, served_on_sqlite, with_accounts};
use crate::runs::{judge, suite};

const ALL: [&str; 5] = ["ingest", "read", "annotate", "write", "manage"];

/// Somebody with everything that can outlive their access.
struct Insider {
    account: String,
    cookie: String,
    token: String,
    /// Made with the token.
    second_token: String,
    invitation: String,
    /// Made with the second token.
    second_invitation: String,
}

impl Insider {
    /// Joins as an owner of the default project.
    async fn join(place: &Place, admin: &str) -> Self {
        let invitation = invite(place, ("cookie", admin), "owner").await;
        let joined = place.join(&invitation, "eve@example.org").await;
        let (account, cookie) = (joined.json()["id"].as_str().unwrap().to_owned(), joined.cookie());
        let token = make_token(place, ("cookie", &cookie), "first").await;
        let second_token = make_token(place, ("authorization", &token), "second").await;
        let invitation = invite(place, ("cookie", &cookie), "owner").await;
        let second_invitation = invite(place, ("authorization", &second_token), "viewer").await;
        Self { account, cookie, token, second_token, invitation, second_invitation }
    }

    fn tokens(&self) -> [&str; 2] {
        [&self.token, &self.second_token]
    }
}

async fn make_token(place: &Place, by: (&str, &str), name: &str) -> String {
    let body = json!({ "name": name, "scopes": ALL });
    let made = place.ask(Method::POST, "/api/v1/tokens", &[by], body).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text);
    format!("Bearer {}", made.json()["secret"].as_str().unwrap())
}

async fn invite(place: &Place, by: (&str, &str), role: &str) -> String {
    let made = place.ask(Method::POST, "/api/v1/invitations", &[by], json!({ "role": role })).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text);
    made.json()["invitation"].as_str().unwrap().to_owned()
}

async fn list_tokens(place: &Place, by: (&str, &str)) -> Answer {
    place.ask(Method::GET, "/api/v1/tokens", &[by], Json::Null).await
}

async fn disable(place: &Place, admin: &str, account: &str, disabled: bool) {
    let path = format!("/api/v1/accounts/{account}");
    let answer = place.ask(Method::PATCH, &path, &[("cookie", admin)], json!({ "disabled": disabled })).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}

async fn demote(place: &Place, admin: &str, account: &str, role: &str) {
    let path = format!("/api/v1/members/{account}");
    let answer = place.ask(Method::PUT, &path, &[("cookie", admin)], json!({ "role": role })).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}

/// Neither invitation lets anybody in.
async fn assert_invitations_are_closed(place: &Place, insider: &Insider) {
    for (n, secret) in [&insider.invitation, &insider.second_invitation].into_iter().enumerate() {
        let joined = place.join(secret, &format!("friend{n}@example.org")).await;
        assert_eq!(joined.status, StatusCode::UNAUTHORIZED, "{}", joined.text);
    }
}

#[test]
fn a_disabled_account_keeps_no_token_and_no_invitation() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        disable(&place, &admin, &eve.account, true).await;
        for token in eve.tokens() {
            let answer = list_tokens(&place, ("authorization", token)).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.text);
        }
        assert_eq!(list_tokens(&place, ("cookie", &eve.cookie)).await.status, StatusCode::UNAUTHORIZED);
        assert_invitations_are_closed(&place, &eve).await;
        disable(&place, &admin, &eve.account, false).await;
        let again = list_tokens(&place, ("authorization", &eve.token)).await;
        assert_eq!(again.status, StatusCode::OK, "tokens rest while their owner is disabled");
    });
}

#[test]
fn a_removed_member_keeps_no_token_also_none_made_with_a_token() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        let path = format!("/api/v1/members/{}", eve.account);
        place.ask(Method::DELETE, &path, &[("cookie", &admin)], Json::Null).await;
        for token in eve.tokens() {
            let answer = list_tokens(&place, ("authorization", token)).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.text);
        }
        assert_eq!(list_tokens(&place, ("cookie", &eve.cookie)).await.status, StatusCode::NOT_FOUND);
        assert_invitations_are_closed(&place, &eve).await;
    });
}

#[test]
fn a_demoted_member_cannot_use_old_tokens_or_invitations_to_rise_again() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        demote(&place, &admin, &eve.account, "viewer").await;
        for token in eve.tokens() {
            let path = format!("/api/v1/members/{}", eve.account);
            let by = [("authorization", token)];
            let risen = place.ask(Method::PUT, &path, &by, json!({ "role": "owner" })).await;
            assert_eq!(risen.status, StatusCode::FORBIDDEN, "{}", risen.text);
            assert!(risen.text.contains("its owner's role"), "{}", risen.text);
            let read = place.ask(Method::GET, "/api/v1/traces", &by, Json::Null).await;
            assert_eq!(read.status, StatusCode::OK, "a viewer still reads: {}", read.text);
        }
        assert_invitations_are_closed(&place, &eve).await;
    });
}

#[test]
fn a_stream_of_events_ends_with_the_rights_of_its_listener() {
    let judge = judge(|_| Act::Fit);
    let settings = ServerSettings { access: Access::Accounts, ..judge.settings() };
    served_on_sqlite(&settings, |place| async move {
        let admin = place.owner().await;
        // Nobody works on it, so that it does not end.
        let run = place.ask(Method::POST, "/api/v1/runs", &[("cookie", &admin)], suite(1)).await;
        let run = run.json()["id"].as_str().unwrap().to_owned();
        for end in ["disabled", "removed", "demoted"] {
            let invitation = invite(&place, ("cookie", &admin), "owner").await;
            let joined = place.join(&invitation, &format!("{end}@example.org")).await;
            let (account, cookie) = (joined.json()["id"].as_str().unwrap().to_owned(), joined.cookie());
            let token = make_token(&place, ("cookie", &cookie), end).await;
            let mut by_cookie = place.open_events(&run, ("cookie", &cookie)).await;
            let mut by_token = place.open_events(&run, ("authorization", &token)).await;
            for stream in [&mut by_cookie, &mut by_token] {
                stream.read_until("event: progress").await;
            }
            match end {
                "disabled" => disable(&place, &admin, &account, true).await,
                "removed" => {
                    let path = format!("/api/v1/members/{account}");
                    place.ask(Method::DELETE, &path, &[("cookie", &admin)], Json::Null).await;
                }
                _ => demote(&place, &admin, &account, "annotator").await,
            }
            for stream in [by_cookie, by_token] {
                let told = stream.read_to_end().await;
                assert!(!told.contains("event: ended"), "{end}: {told}");
            }
        }
    });
}

#[test]
fn a_link_to_a_task_is_closed_while_its_maker_may_not_write() {
    served_on_sqlite(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        let by = [("cookie", eve.cookie.as_str())];
        let files = json!({ "config.yaml": CONFIG, "data/traces.jsonl": data(2) });
        let body = json!({ "config": "config.yaml", "files": files });
        let task = place.ask(Method::POST, "/api/v1/tasks", &by, body).await.json();
        let path = format!("/api/v1/tasks/{}/links", task["id"].as_str().unwrap());
        let links = place.ask(Method::POST, &path, &by, json!({})).await.json();
        let link = links["url"].as_str().unwrap().split_once("#task=").unwrap().1;
        let link = link.split('&').next().unwrap();
        let join = async |name: &str| {
            let body = json!({ "token": link, "name": name });
            place.ask(Method::POST, "/api/v1/join/task", &[], body).await.status.is_success()
        };
        assert!(join("before").await);
        demote(&place, &admin, &eve.account, "viewer").await;
        assert!(!join("demoted").await);
        demote(&place, &admin, &eve.account, "member").await;
        assert!(join("again").await, "it is the role of that moment that counts");
        disable(&place, &admin, &eve.account, true).await;
        assert!(!join("disabled").await);
    });
}

#[test]
fn a_token_says_whose_it_is_also_if_it_was_made_with_another() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        let body = json!({ "name": "short", "scopes": ["read"], "days": 3 });
        place.ask(Method::POST, "/api/v1/tokens", &[("cookie", &admin)], body).await;
        let listed = list_tokens(&place, ("cookie", &admin)).await.json();
        let find = |name: &str| {
            let all = listed.as_array().unwrap();
            all.iter().find(|token| token["name"] == name).unwrap().clone()
        };
        for name in ["first", "second"] {
            assert_eq!(find(name)["made_by"], json!({ "account": eve.account, "name": "Somebody" }));
            assert!(find(name)["used"].is_string(), "{name}: {listed}");
            assert!(find(name)["expires"].is_null(), "{name}: {listed}");
        }
        assert!(find("short")["expires"].is_string() && find("short")["used"].is_null(), "{listed}");
    });
}

#[test]
fn the_first_owner_administers_the_server_whoever_joined_before() {
    served(&with_accounts(), |place| async move {
        let annotator =
            place.app.store.add_account(&annotator(), jurist_store::clock::current_time()).await.unwrap();
        assert!(!annotator.is_admin);
        let admin = place.owner().await;
        let me = place.ask(Method::GET, "/api/v1/session", &[("cookie", &admin)], Json::Null).await;
        assert_eq!(me.json()["account"]["is_admin"], true);
        assert_eq!(jurist_server::join_link(&place.app, &place.url).await.unwrap(), None);
    });
}

fn annotator() -> jurist_store::accounts::NewAccount {
    let (email, name) = ("an@annotators.invalid".to_owned(), "An".to_owned());
    jurist_store::accounts::NewAccount { email, name, password: None, is_admin: false }
}

#[test]
fn an_owner_link_makes_an_administrator_of_somebody_new_or_of_who_is_signed_in() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        let link = async || {
            let link = jurist_server::owner_link(&place.app, &place.url).await.unwrap();
            link.split_once('#').unwrap().1.to_owned()
        };
        let joined = place.join(&link().await, "bob@example.org").await;
        assert_eq!(joined.json()["is_admin"], true);
        let body = json!({ "invitation": link().await });
        let by = [("cookie", eve.cookie.as_str())];
        let accepted = place.ask(Method::POST, "/api/v1/session/projects", &by, body).await;
        assert_eq!(accepted.status, StatusCode::OK, "{}", accepted.text);
        let me = place.ask(Method::GET, "/api/v1/session", &by, Json::Null).await;
        assert_eq!(me.json()["account"]["is_admin"], true);
    });
}

#[test]
fn nobody_is_pulled_into_a_project_but_by_an_invitation_they_accept() {
    served(&with_accounts(), |place| async move {
        let admin = place.owner().await;
        let eve = Insider::join(&place, &admin).await;
        let viewer = invite(&place, ("cookie", &admin), "viewer").await;
        let bob = place.join(&viewer, "bob@example.org").await;
        let body = json!({ "name": "trap" });
        place.ask(Method::POST, "/api/v1/projects", &[("cookie", &eve.cookie)], body).await;
        let in_trap = [("cookie", eve.cookie.as_str()), ("jurist-project", "trap")];
        let path = format!("/api/v1/members/{}", bob.json()["id"].as_str().unwrap());
        let pulled = place.ask(Method::PUT, &path, &in_trap, json!({ "role": "annotator" })).await;
        assert_eq!(pulled.status, StatusCode::NOT_FOUND, "{}", pulled.text);
        let invited =
            place.ask(Method::POST, "/api/v1/invitations", &in_trap, json!({ "role": "viewer" })).await;
        let (cookie, body) = (bob.cookie(), json!({ "invitation": invited.json()["invitation"] }));
        let by = [("cookie", cookie.as_str())];
        let accepted = place.ask(Method::POST, "/api/v1/session/projects", &by, body.clone()).await;
        assert_eq!((accepted.status, accepted.json()["name"].clone()), (StatusCode::OK, json!("trap")));
        let again = place.ask(Method::POST, "/api/v1/session/projects", &by, body).await;
        assert_eq!(again.status, StatusCode::UNAUTHORIZED, "it works once");
        let changed = place.ask(Method::PUT, &path, &in_trap, json!({ "role": "annotator" })).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
    });
}

#[test]
fn a_token_of_an_open_server_opens_nothing_once_there_are_accounts() {
    jurist_store::testing::for_each_engine(|scene| async move {
        let open = crate::place::start(scene.clone(), ServerSettings::default()).await;
        let token = open.token("none", &["read"]).await;
        let by = [("authorization", token.as_str())];
        assert_eq!(open.ask(Method::GET, "/api/v1/traces", &by, Json::Null).await.status, StatusCode::OK);
        let closed = crate::place::start(scene, with_accounts()).await;
        let answer = closed.ask(Method::GET, "/api/v1/traces", &by, Json::Null).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.text);
    });
}
