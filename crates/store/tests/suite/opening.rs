use std::process::Command;
use std::time::Duration;

use jurist_store::testing::{Fsync, Scene, Server, for_each_engine};
use jurist_store::{SCHEMA, Store, StoreError, StoreOptions};

#[test]
fn an_empty_database_becomes_the_newest_and_stays_it() {
    for_each_engine(|scene| async move {
        assert_eq!(scene.store.schema_version().await.unwrap(), Some(SCHEMA));
        let again = Store::open(&scene.url).await.unwrap();
        assert_eq!(again.migrate(crate::at(0)).await.unwrap(), SCHEMA);
        again.ping().await.unwrap();
        again.close().await;
    });
}

#[test]
fn a_newer_database_is_refused() {
    for_each_engine(|scene| async move {
        scene.execute("INSERT INTO jurist_schema (version, applied) VALUES (999, 0)").await.unwrap();
        let error = Store::open(&scene.url).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 999, known: SCHEMA, .. }), "{error}");
        assert!(error.to_string().contains("newer version of Jurist"), "{error}");
    });
}

/// Opens what the variable names; run by tests below in processes of their own.
#[test]
fn child_that_opens() {
    let Some(url) = std::env::var_os("JURIST_TEST_OPEN") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match runtime.block_on(Store::open(url.to_str().unwrap())) {
        Ok(store) => println!("opened {}", store.engine()),
        Err(error) => println!("refused: {error}"),
    }
}

fn child(url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "opening::child_that_opens", "--nocapture"]).env("JURIST_TEST_OPEN", url);
    command
}

async fn open_by_five_processes(url: &str) {
    let spawn = |_| child(url).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let children: Vec<_> = (0..5).map(spawn).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("opened "), "{said}");
    }
    assert_eq!(Store::open(url).await.unwrap().schema_version().await.unwrap(), Some(SCHEMA));
}

#[test]
fn several_processes_may_start_at_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        open_by_five_processes(&folder.path().join("new.db").display().to_string()).await;
        if let Some(server) = Server::start(Fsync::Off) {
            open_by_five_processes(&server.database().await).await;
        }
    });
}

#[test]
fn what_is_no_database_is_named_without_its_password() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for url in ["", "sqlite:", "sqlite::memory:", "mysql://me:secret@host/x"] {
            let error = Store::open(url).await.unwrap_err();
            assert!(
                matches!(error, StoreError::BadUrl(_)) && !error.to_string().contains("secret"),
                "{error}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("no/such/folder/x.db");
        let error = Store::open(nowhere.to_str().unwrap()).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        let text = folder.path().join("text.db");
        std::fs::write(&text, "this is no database, but a text that is long enough to be read as one")
            .unwrap();
        assert!(matches!(Store::open(text.to_str().unwrap()).await, Err(StoreError::Unreachable { .. })));
    });
}

#[test]
fn a_new_file_is_read_by_its_owner_only_with_its_log_and_its_copies() {
    use std::os::unix::fs::PermissionsExt;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let scene = Scene::sqlite().await;
        scene.store.add_project("support", crate::at(0)).await.unwrap();
        let copy = format!("{}.copy", scene.url);
        scene.store.backup(std::path::Path::new(&copy)).await.unwrap();
        for file in [scene.url.clone(), format!("{}-wal", scene.url), format!("{}-shm", scene.url), copy] {
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    });
}

#[test]
fn a_file_that_cannot_be_written_is_refused_at_once() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scene = runtime.block_on(Scene::sqlite());
    runtime.block_on(scene.store.close());
    let folder = std::path::Path::new(&scene.url).parent().unwrap();
    std::fs::set_permissions(&scene.url, std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = child(&scene.url);
    if std::fs::metadata(&scene.url).unwrap().uid() == 0 {
        // Root may write anything, so somebody else has to try.
        let inner = command;
        command = Command::new("runuser");
        command.args(["-u", "nobody", "--"]).arg(inner.get_program()).args(inner.get_args());
        command.env("JURIST_TEST_OPEN", &scene.url);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() && !said.contains("running") {
        println!("SKIPPED: another user cannot run this test");
        return;
    }
    assert!(said.contains("cannot be written"), "{said}");
}

#[test]
fn a_postgres_that_is_away_is_named_without_its_password() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let error = Store::open("postgres://me:secret@127.0.0.1:1/jurist").await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }) && error.is_transient(), "{error}");
        assert!(error.to_string().contains("postgres://me@127.0.0.1:1/jurist"), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret"));
    });
}

#[test]
fn a_postgres_that_goes_away_is_an_error_and_no_panic() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let Some(server) = Server::start(Fsync::Off) else { return println!("SKIPPED: no PostgreSQL") };
        let url = server.database().await;
        let store = Store::connect(
            &url,
            StoreOptions { patience: Duration::from_millis(200), ..StoreOptions::default() },
        )
        .await
        .unwrap();
        store.ping().await.unwrap();
        server.stop();
        let error = store.ping().await.unwrap_err();
        assert!(error.is_transient(), "{error}");
    });
}

#[test]
fn an_emptied_file_is_not_taken_for_a_new_one() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("emptied.db");
        let url = path.display().to_string();
        Store::open(&url).await.unwrap().close().await;
        std::fs::write(&path, "").unwrap();
        let error = Store::open(&url).await.unwrap_err();
        assert!(matches!(error, StoreError::Emptied(_)), "{error}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0, "nothing was written");
    });
}

#[test]
fn a_damaged_file_is_refused_and_not_written_to() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.db");
        let url = path.display().to_string();
        Store::open(&url).await.unwrap().close().await;
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 8192].fill(0xa5);
        std::fs::write(&path, &bytes).unwrap();
        let error = Store::open(&url).await.unwrap_err();
        assert!(matches!(error, StoreError::DamagedFile(_)), "{error}");
        assert!(std::fs::read(&path).unwrap() == bytes, "nothing was written");
    });
}
