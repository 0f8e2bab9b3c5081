use jurist_store::StoreError;
use jurist_store::accounts::{NewAccount, Role};
use jurist_store::testing::for_each_engine;
use jurist_store::tokens::NewToken;

use crate::{at, project};

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
        store.set_role(support, ann.id, Role::Viewer, at(1)).await.unwrap();
        store.set_role(support, ann.id, Role::Member, at(2)).await.unwrap();
        assert_eq!(store.role(support, ann.id).await.unwrap(), Some(Role::Member));
        assert_eq!(store.role(other, ann.id).await.unwrap(), None);
        assert_eq!(store.members(support).await.unwrap()[0].name, "Ann");
        assert_eq!(store.memberships(ann.id).await.unwrap().len(), 1);
        let token = NewToken {
            name: "hers".into(),
            hash: "h".into(),
            scopes: Vec::new(),
            author: Some(ann.id),
            expires: None,
        };
        store.add_token(support, &token, at(3)).await.unwrap();
        assert!(store.remove_member(support, ann.id, at(4)).await.unwrap());
        assert_eq!(store.token("h", at(5)).await.unwrap(), None, "her tokens go with her");
        assert!(Role::Annotator < Role::Owner);
    });
}

#[test]
fn a_token_opens_its_project_until_it_expires_or_is_revoked() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let new = NewToken {
            name: "ci".into(),
            hash: "h1".into(),
            scopes: vec!["ingest".into()],
            author: None,
            expires: Some(at(100)),
        };
        let token = store.add_token(support, &new, at(0)).await.unwrap();
        assert_eq!(store.token("h1", at(5)).await.unwrap(), Some(token.clone()));
        assert_eq!(token.scopes, ["ingest"]);
        assert!(store.token("h1", at(100)).await.unwrap().is_none());
        store.use_token(&token, at(7)).await.unwrap();
        assert_eq!(store.tokens(support).await.unwrap()[0].used, Some(at(7)));
        store.revoke_token(support, token.id, at(8)).await.unwrap();
        assert!(store.token("h1", at(9)).await.unwrap().is_none());
    });
}
