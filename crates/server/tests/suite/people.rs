//! Who may do what.

use std::time::Instant;

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, served, with_accounts};

/// A token with these scopes, made by the owner.
async fn token(place: &Place, cookie: &str, scopes: &[&str]) -> String {
    let body = json!({ "name": format!("for {}", scopes.join(" ")), "scopes": scopes });
    let made = place.ask(Method::POST, "/api/v1/tokens", &[("cookie", cookie)], body).await;
    format!("Bearer {}", made.json()["secret"].as_str().unwrap())
}

#[test]
fn without_a_token_nothing_is_told() {
    served(&with_accounts(), |place| async move {
        for path in
            ["/api/v1/projects", "/api/v1/tokens", "/api/v1/members", "/api/v1/audit", "/api/v1/session"]
        {
            for headers in [&[][..], &[("authorization", "Bearer jrk_0")], &[("cookie", "jurist_session=x")]]
            {
                let answer = place.ask(Method::GET, path, headers, Json::Null).await;
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
                assert_eq!(answer.headers["content-type"], "application/problem+json");
            }
        }
        assert_eq!(place.ask(Method::GET, "/ready", &[], Json::Null).await.status, StatusCode::OK);
    });
}

#[test]
fn the_first_link_makes_an_owner_once() {
    served(&with_accounts(), |place| async move {
        let link = jurist_server::join_link(&place.app, &place.url).await.unwrap().unwrap();
        let secret = link.split_once('#').unwrap().1;
        let joined = place.join(secret, "Ada@Example.org").await;
        assert_eq!((joined.status, joined.json()["is_admin"].clone()), (StatusCode::OK, json!(true)));
        assert_eq!(joined.json()["email"], "ada@example.org");
        assert_eq!(place.join(secret, "eve@example.org").await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(jurist_server::join_link(&place.app, &place.url).await.unwrap(), None);
        let cookie = joined.cookie();
        let me = place.ask(Method::GET, "/api/v1/session", &[("cookie", &cookie)], Json::Null).await;
        assert_eq!(me.json()["account"]["email"], "ada@example.org");
        let set = joined.headers["set-cookie"].to_str().unwrap();
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    });
}

#[test]
fn a_session_says_which_projects_are_open_and_how_far() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let second = json!({ "name": "second" });
        place.ask(Method::POST, "/api/v1/projects", &[("cookie", &cookie)], second).await;
        let headers = [("cookie", cookie.as_str()), ("jurist-project", "second")];
        let role = json!({ "role": "annotator" });
        let invited = place.ask(Method::POST, "/api/v1/invitations", &headers, role).await;
        let joined = place.join(invited.json()["invitation"].as_str().unwrap(), "ben@example.org").await;
        let his = joined.cookie();
        let session = place.ask(Method::GET, "/api/v1/session", &[("cookie", &his)], Json::Null).await;
        assert_eq!(session.json()["projects"].as_array().unwrap().len(), 1);
        assert_eq!(session.json()["projects"][0]["name"], "second");
        assert_eq!(session.json()["projects"][0]["scopes"], json!(["annotate"]));
        let session = place.ask(Method::GET, "/api/v1/session", &[("cookie", &cookie)], Json::Null).await;
        assert_eq!(session.json()["projects"].as_array().unwrap().len(), 2);
    });
    served(&ServerSettings::default(), |place| async move {
        let session = place.ask(Method::GET, "/api/v1/session", &[], Json::Null).await;
        assert_eq!(session.json()["account"], Json::Null);
        assert_eq!(session.json()["projects"][0]["name"], "default");
    });
}

#[test]
fn a_token_opens_what_its_scopes_say_and_nothing_when_it_is_revoked() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let ingest = token(&place, &cookie, &["ingest"]).await;
        let listed =
            place.ask(Method::GET, "/api/v1/tokens", &[("authorization", &ingest)], Json::Null).await;
        assert_eq!(listed.status, StatusCode::FORBIDDEN);
        assert!(listed.text.contains("no scope `manage`"), "{}", listed.text);
        let listed = place.ask(Method::GET, "/api/v1/tokens", &[("cookie", &cookie)], Json::Null).await;
        assert!(!listed.text.contains("jrk_"), "secrets are shown once");
        let manage = token(&place, &cookie, &["manage"]).await;
        let body = json!({ "name": "more than mine", "scopes": ["write"] });
        let more = place.ask(Method::POST, "/api/v1/tokens", &[("authorization", &manage)], body).await;
        assert_eq!(more.status, StatusCode::FORBIDDEN, "nobody hands on what they do not have");
        let all = listed.json();
        let path = format!("/api/v1/tokens/{}", all[0]["id"].as_str().unwrap());
        assert_eq!(
            place.ask(Method::DELETE, &path, &[("cookie", &cookie)], Json::Null).await.status,
            StatusCode::OK
        );
        let gone =
            place.ask(Method::GET, "/api/v1/projects", &[("authorization", &ingest)], Json::Null).await;
        assert_eq!(gone.status, StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn the_data_of_another_project_is_as_good_as_absent() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let body = json!({ "name": "secret plans" });
        let made = place.ask(Method::POST, "/api/v1/projects", &[("cookie", &cookie)], body).await;
        assert_eq!(made.status, StatusCode::OK);
        let other = made.json()["id"].as_str().unwrap().to_owned();
        let token = token(&place, &cookie, &["read", "manage"]).await;
        for project in [other.as_str(), "secret plans", "no such thing"] {
            let headers = [("authorization", token.as_str()), ("jurist-project", project)];
            let answer = place.ask(Method::GET, "/api/v1/tokens", &headers, Json::Null).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{project}");
            assert!(answer.text.contains("there is no such project"), "{}", answer.text);
        }
        let seen = place.ask(Method::GET, "/api/v1/projects", &[("authorization", &token)], Json::Null).await;
        assert_eq!(seen.json().as_array().unwrap().len(), 1);
        // A member of one project is nobody in another.
        let body = json!({ "role": "member" });
        let invited = place.ask(Method::POST, "/api/v1/invitations", &[("cookie", &cookie)], body).await;
        let joined = place.join(invited.json()["invitation"].as_str().unwrap(), "bob@example.org").await;
        let bob = joined.cookie();
        let headers = [("cookie", bob.as_str()), ("jurist-project", "secret plans")];
        let answer = place.ask(Method::GET, "/api/v1/projects", &headers, Json::Null).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        let answer = place.ask(Method::GET, "/api/v1/members", &[("cookie", &bob)], Json::Null).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
    });
}

#[test]
fn a_page_elsewhere_cannot_act_for_who_is_signed_in() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let body = json!({ "name": "forged" });
        for forged in [
            [("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")],
            [("cookie", cookie.as_str()), ("origin", "https://evil.example")],
        ] {
            let answer = place.ask(Method::POST, "/api/v1/projects", &forged, body.clone()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.text);
        }
    });
}

#[test]
fn a_session_that_somebody_planted_is_not_taken_over() {
    served(&with_accounts(), |place| async move {
        place.owner().await;
        let body = json!({ "email": "ada@example.org", "password": "correct horse battery" });
        let planted = [("cookie", "jurist_session=jrs_planted")];
        let signed_in = place.ask(Method::POST, "/api/v1/session", &planted, body).await;
        assert_eq!(signed_in.status, StatusCode::OK);
        assert!(!signed_in.cookie().contains("planted"));
        let me = place.ask(Method::GET, "/api/v1/session", &planted, Json::Null).await;
        assert_eq!(me.status, StatusCode::UNAUTHORIZED);
        let cookie = signed_in.cookie();
        place.ask(Method::DELETE, "/api/v1/session", &[("cookie", &cookie)], Json::Null).await;
        let me = place.ask(Method::GET, "/api/v1/session", &[("cookie", &cookie)], Json::Null).await;
        assert_eq!(me.status, StatusCode::UNAUTHORIZED);
    });
}

/// Guesses that are heard by now: five at once, then one after a second, one after two more, one after four more.
fn most_guesses(started: Instant) -> usize {
    let seconds = started.elapsed().as_secs() + 1;
    5 + seconds.ilog2() as usize
}

#[test]
fn whoever_guesses_passwords_waits() {
    served(&with_accounts(), |place| async move {
        place.owner().await;
        let guess = async || {
            let body = json!({ "email": "ada@example.org", "password": "wrong wrong wrong" });
            place.ask(Method::POST, "/api/v1/session", &[], body).await
        };
        let (started, mut n_heard) = (Instant::now(), 0);
        let refused = loop {
            let answer = guess().await;
            if answer.status != StatusCode::UNAUTHORIZED {
                break answer;
            }
            n_heard += 1;
            assert!(n_heard <= most_guesses(started), "{n_heard} guesses");
        };
        assert_eq!((refused.status, 5 <= n_heard), (StatusCode::TOO_MANY_REQUESTS, true), "{n_heard}");
        assert!(refused.headers.contains_key("retry-after"));
    });
}

#[test]
fn guesses_count_one_by_one_and_lock_nobody_else_out() {
    let settings = ServerSettings { behind_proxy: true, ..with_accounts() };
    served(&settings, |place| async move {
        place.owner().await;
        let sign_in = async |from: &'static str, email: &'static str, password: &'static str| {
            let body = json!({ "email": email, "password": password });
            // The address that a client gives is first in the list, and has no effect.
            let from = format!("10.9.9.9, {from}");
            place.ask(Method::POST, "/api/v1/session", &[("x-forwarded-for", &from)], body).await.status
        };
        let started = Instant::now();
        let guesses = (0..20).map(|_| sign_in("203.0.113.7", "ada@example.org", "wrong wrong wrong"));
        let all = futures_util::future::join_all(guesses).await;
        let n_heard = all.iter().filter(|status| **status == StatusCode::UNAUTHORIZED).count();
        assert!((5..=most_guesses(started)).contains(&n_heard), "{all:?}");
        let elsewhere = sign_in("203.0.113.8", "ada@example.org", "correct horse battery").await;
        assert_eq!(elsewhere, StatusCode::OK, "a guesser who knows her name does not lock her out");
        let neighbour = sign_in("203.0.113.7", "bob@example.org", "wrong wrong wrong").await;
        assert_eq!(neighbour, StatusCode::UNAUTHORIZED, "nor others at the same address");
    });
}

#[test]
fn an_invitation_makes_one_account_however_many_try() {
    served(&with_accounts(), |place| async move {
        let link = jurist_server::join_link(&place.app, &place.url).await.unwrap().unwrap();
        let secret = link.split_once('#').unwrap().1;
        let join = async |n: usize| place.join(secret, &format!("{n}@example.org")).await.status;
        let all = futures_util::future::join_all((0..6).map(join)).await;
        assert_eq!(all.iter().filter(|it| **it == StatusCode::OK).count(), 1, "{all:?}");
        assert_eq!(place.app.store.accounts().await.unwrap().len(), 1);
    });
}

#[test]
fn an_address_that_is_taken_does_not_use_up_an_invitation() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let invited = json!({ "role": "viewer" });
        let invited =
            place.ask(Method::POST, "/api/v1/invitations", &[("cookie", &cookie)], invited).await.json();
        let secret = invited["invitation"].as_str().unwrap();
        assert_eq!(place.join(secret, "ada@example.org").await.status, StatusCode::CONFLICT);
        assert_eq!(place.join(secret, "bob@example.org").await.status, StatusCode::OK);
    });
}

#[test]
fn another_password_ends_every_other_session() {
    served(&with_accounts(), |place| async move {
        let (first, path) = (place.owner().await, "/api/v1/session");
        let sign_in = async |password: &str| {
            let body = json!({ "email": "ada@example.org", "password": password });
            place.ask(Method::POST, path, &[], body).await
        };
        let second = sign_in("correct horse battery").await.cookie();
        let change = async |old: &str, new: &str| {
            let body = json!({ "old": old, "new": new });
            place.ask(Method::PUT, "/api/v1/session/password", &[("cookie", &second)], body).await
        };
        assert_eq!(change("wrong wrong wrong", "staple staple").await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(change("correct horse battery", "short").await.status, StatusCode::BAD_REQUEST);
        let third = change("correct horse battery", "staple staple").await.cookie();
        let who = async |cookie: &str| place.ask(Method::GET, path, &[("cookie", cookie)], Json::Null).await;
        assert_eq!(who(&first).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(who(&second).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(who(&third).await.status, StatusCode::OK);
        assert_eq!(sign_in("correct horse battery").await.status, StatusCode::UNAUTHORIZED);
        let fourth = sign_in("staple staple").await.cookie();
        let everywhere = format!("{path}?everywhere=true");
        place.ask(Method::DELETE, &everywhere, &[("cookie", &third)], Json::Null).await;
        assert_eq!(who(&fourth).await.status, StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn a_project_keeps_an_owner_and_programs_make_none() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let ada = place.ask(Method::GET, "/api/v1/members", &[("cookie", &cookie)], Json::Null).await.json();
        let path = format!("/api/v1/members/{}", ada[0]["account"].as_str().unwrap());
        let demoted = json!({ "role": "viewer" });
        let demoted = place.ask(Method::PUT, &path, &[("cookie", &cookie)], demoted).await;
        assert_eq!(demoted.status, StatusCode::CONFLICT, "{}", demoted.text);
        let removed = place.ask(Method::DELETE, &path, &[("cookie", &cookie)], Json::Null).await;
        assert_eq!(removed.status, StatusCode::CONFLICT, "{}", removed.text);
        let program = token(&place, &cookie, &["manage"]).await;
        let invite = async |role: &str| {
            let headers = [("authorization", program.as_str())];
            place.ask(Method::POST, "/api/v1/invitations", &headers, json!({ "role": role })).await.status
        };
        assert_eq!(invite("owner").await, StatusCode::FORBIDDEN);
        assert_eq!(invite("member").await, StatusCode::FORBIDDEN, "who may read, which it may not");
        let program = token(&place, &cookie, &["manage", "read"]).await;
        let headers = [("authorization", program.as_str())];
        let viewer = json!({ "role": "viewer" });
        let viewer = place.ask(Method::POST, "/api/v1/invitations", &headers, viewer).await;
        assert_eq!(viewer.status, StatusCode::OK);
    });
}

#[test]
fn a_new_owner_link_ends_the_ones_before() {
    served(&with_accounts(), |place| async move {
        let link = async || jurist_server::join_link(&place.app, &place.url).await.unwrap().unwrap();
        let (first, second) = (link().await, link().await);
        let join = async |link: &str| place.join(link.split_once('#').unwrap().1, "ada@example.org").await;
        assert_eq!(join(&first).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(join(&second).await.status, StatusCode::OK);
    });
}

#[test]
fn whatever_is_refused_says_why() {
    served(&ServerSettings::default(), |place| async move {
        let elsewhere = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
        let encoded = [("content-encoding", "br"), ("content-type", "application/json")];
        for (method, path, headers) in [
            (Method::POST, "/api/v1/projects", &elsewhere),
            (Method::PUT, "/api/v1/projects", &encoded),
            (Method::POST, "/api/v1/projects", &encoded),
        ] {
            let answer = place.ask(method, path, headers, json!({})).await;
            assert!(answer.status.is_client_error());
            assert_eq!(answer.headers["content-type"], "application/problem+json", "{}", answer.status);
            assert_eq!(answer.json()["status"], answer.status.as_u16());
        }
    });
}

#[test]
fn whoever_may_do_anything_shuts_others_out() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let invited = json!({ "role": "owner" });
        let invited =
            place.ask(Method::POST, "/api/v1/invitations", &[("cookie", &cookie)], invited).await.json();
        let bob = place.join(invited["invitation"].as_str().unwrap(), "bob@example.org").await;
        let (id, theirs) = (bob.json()["id"].as_str().unwrap().to_owned(), bob.cookie());
        let change = async |id: &str, cookie: &str| {
            let path = format!("/api/v1/accounts/{id}");
            place.ask(Method::PATCH, &path, &[("cookie", cookie)], json!({ "disabled": true })).await.status
        };
        let all = place.ask(Method::GET, "/api/v1/accounts", &[("cookie", &cookie)], Json::Null).await.json();
        let ada = all.as_array().unwrap().iter().find(|item| item["is_admin"] == true).unwrap()["id"].clone();
        assert_eq!(change(ada.as_str().unwrap(), &theirs).await, StatusCode::FORBIDDEN);
        assert_eq!(change(ada.as_str().unwrap(), &cookie).await, StatusCode::CONFLICT, "not oneself");
        assert_eq!(change(&id, &cookie).await, StatusCode::OK);
        let me = place.ask(Method::GET, "/api/v1/session", &[("cookie", &theirs)], Json::Null).await;
        assert_eq!(me.status, StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn an_open_server_answers_to_its_own_name_only() {
    served(&ServerSettings::default(), |place| async move {
        let answer = place.ask(Method::GET, "/api/v1/projects", &[], Json::Null).await;
        assert_eq!(answer.json()[0]["name"], "default");
        let answer =
            place.ask(Method::GET, "/api/v1/projects", &[("host", "evil.example")], Json::Null).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        let elsewhere = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
        let refused = jurist_server::bind(place.app.clone(), elsewhere).await.unwrap_err();
        assert!(refused.to_string().contains("--auth"), "{refused}");
    });
}

#[test]
fn bad_requests_say_what_would_have_been_right() {
    served(&ServerSettings::default(), |place| async move {
        let check = async |method: Method, path: &str, body: Json, status: u16, said: &str| {
            let answer = place.ask(method, path, &[], body).await;
            assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
            assert!(answer.text.contains(said), "{path}: {}", answer.text);
        };
        check(Method::POST, "/api/v1/projects", json!({}), 400, "missing field `name`").await;
        check(Method::POST, "/api/v1/projects", json!({ "name": "" }), 400, "up to 100 letters").await;
        check(
            Method::POST,
            "/api/v1/tokens",
            json!({ "name": "x", "scopes": ["all"] }),
            400,
            "there are ingest",
        )
        .await;
        check(Method::GET, "/api/v1/audit?limit=0", Json::Null, 400, "from 1 to 200").await;
        check(Method::GET, "/api/v1/audit?after=x", Json::Null, 400, "not a page cursor").await;
        check(Method::DELETE, "/api/v1/tokens/..%2f..%2fetc", Json::Null, 404, "tok_").await;
        check(Method::GET, "/api/v1/nothing", Json::Null, 404, "no endpoint at this address").await;
    });
}
