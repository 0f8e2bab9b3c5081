use jurist_store::accounts::{NewAccount, ProjectRole};
use jurist_store::audit::NewAuditEntry;
use jurist_store::testing::for_each_engine;
use jurist_store::tokens::{NewAccessToken, TokenOwner};
use jurist_store::{AccountId, StoreError};

use crate::{at, project, undo_migrations};

fn ann() -> NewAccount {
    NewAccount {
        email: "Ann@Example.org".into(),
        name: "Ann".into(),
        password: Some("hash".into()),
        is_admin: false,
    }
}

#[test]
fn accounts_are_found_by_email_whatever_its_case() {
    for_each_engine(|scene| async move {
        let ann = scene.store.add_account(&ann(), at(0)).await.unwrap();
        assert_eq!(scene.store.account_by_email("ANN@example.ORG").await.unwrap(), Some(ann.clone()));
        let again = scene.store.add_account(&self::ann(), at(1)).await.unwrap_err();
        assert!(matches!(again, StoreError::Taken { what: "account", .. }), "{again}");
        assert_eq!(scene.store.accounts().await.unwrap(), [ann]);
    });
}

#[test]
fn a_session_ends_by_time_by_leaving_and_with_the_password() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let ann = store.add_account(&ann(), at(0)).await.unwrap();
        store.sign_in("cookie", ann.id, at(0), at(100)).await.unwrap();
        assert_eq!(store.session("cookie", at(99)).await.unwrap().unwrap().account, ann);
        assert!(store.session("cookie", at(100)).await.unwrap().is_none());
        store.extend_session("cookie", at(50), at(200)).await.unwrap();
        assert!(store.session("cookie", at(150)).await.unwrap().is_some());
        store.set_password(ann.id, Some("other")).await.unwrap();
        assert!(store.session("cookie", at(1)).await.unwrap().is_none());
        store.sign_in("b", ann.id, at(0), at(100)).await.unwrap();
        store.disable_account(ann.id, Some(at(1))).await.unwrap();
        assert!(store.session("b", at(1)).await.unwrap().is_none());
        store.sign_in("c", ann.id, at(0), at(100)).await.unwrap();
        assert_eq!(store.drop_expired_sessions(at(100)).await.unwrap(), 1);
    });
}

#[test]
fn roles_are_per_project() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let (ann, support) = (store.add_account(&ann(), at(0)).await.unwrap(), project(&scene).await);
        let other = store.add_project("other", at(1)).await.unwrap().id;
        store.set_role(support, ann.id, ProjectRole::Viewer, at(1)).await.unwrap();
        store.set_role(support, ann.id, ProjectRole::Member, at(2)).await.unwrap();
        assert_eq!(store.role(support, ann.id).await.unwrap(), Some(ProjectRole::Member));
        assert_eq!(store.role(other, ann.id).await.unwrap(), None);
        assert_eq!(store.members(support).await.unwrap()[0].name, "Ann");
        assert_eq!(store.memberships(ann.id).await.unwrap().len(), 1);
        let token = NewAccessToken {
            name: "hers".into(),
            hash: "h".into(),
            scopes: Vec::new(),
            author: Some(ann.id),
            expires: None,
        };
        store.add_token(support, &token, at(3)).await.unwrap();
        assert!(store.remove_member(support, ann.id, at(4)).await.unwrap());
        assert_eq!(store.token("h", at(5)).await.unwrap(), None, "her tokens go with her");
        assert!(ProjectRole::Annotator < ProjectRole::Owner);
    });
}

#[test]
fn a_token_opens_its_project_until_it_expires_or_is_revoked() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let new = NewAccessToken {
            name: "ci".into(),
            hash: "h1".into(),
            scopes: vec!["ingest".into()],
            author: None,
            expires: Some(at(100)),
        };
        let token = store.add_token(support, &new, at(0)).await.unwrap();
        let found = store.token("h1", at(5)).await.unwrap().unwrap();
        assert_eq!((found.token, found.owner), (token.clone(), TokenOwner::Nobody));
        assert_eq!(token.scopes, ["ingest"]);
        assert!(store.token("h1", at(100)).await.unwrap().is_none());
        store.use_token(&token, at(7)).await.unwrap();
        assert_eq!(store.tokens(support).await.unwrap()[0].token.used, Some(at(7)));
        store.revoke_token(support, token.id, at(8)).await.unwrap();
        assert!(store.token("h1", at(9)).await.unwrap().is_none());
    });
}

#[test]
fn a_token_of_an_older_database_gets_the_owner_that_the_audit_names() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let ann = store.add_account(&ann(), at(0)).await.unwrap();
        store.set_role(support, ann.id, ProjectRole::Owner, at(0)).await.unwrap();
        let add = async |hash: &str, scope: &str, author: Option<AccountId>| {
            let (name, hash, scopes) = (hash.to_owned(), hash.to_owned(), vec![scope.to_owned()]);
            let new = NewAccessToken { name, hash, scopes, author, expires: None };
            store.add_token(support, &new, at(1)).await.unwrap().id
        };
        let note = async |actor: String, action: &str, target: String| {
            let (action, body) = (action.to_owned(), serde_json::json!({}));
            let entry = NewAuditEntry { project: Some(support), actor, action, target, body };
            store.note(&entry, at(2)).await.unwrap();
        };
        let hers = add("hers", "manage", Some(ann.id)).await;
        note(ann.id.to_string(), "token.add", hers.to_string()).await;
        let second = add("second", "manage", None).await;
        note(hers.to_string(), "token.add", second.to_string()).await;
        let third = add("third", "read", None).await;
        note(second.to_string(), "token.add", third.to_string()).await;
        let open = add("open", "read", None).await;
        note("anyone".to_owned(), "token.add", open.to_string()).await;
        add("link", "task:tsk_1", None).await;
        note(third.to_string(), "task.link", "tsk_1".to_owned()).await;
        add("by the command", "task:tsk_2", None).await;
        add("invitation", "join:owner", None).await;
        undo_migrations(&scene, 10).await;
        assert_eq!(store.migrate(at(3)).await.unwrap(), 9);
        let owner = async |hash: &str| store.token(hash, at(4)).await.unwrap().map(|found| found.owner);
        for hash in ["hers", "second", "third", "link"] {
            assert_eq!(owner(hash).await, Some(TokenOwner::Has(ProjectRole::Owner)), "{hash}");
        }
        assert_eq!(owner("open").await, Some(TokenOwner::Nobody));
        assert_eq!(owner("by the command").await, Some(TokenOwner::Nobody));
        assert_eq!(owner("invitation").await, None, "nobody knows who invited");
        store.disable_account(ann.id, Some(at(5))).await.unwrap();
        assert_eq!(owner("third").await, Some(TokenOwner::ShutOut));
    });
}
