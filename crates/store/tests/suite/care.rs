use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use jurist_store::pieces::PieceKind;
use jurist_store::testing::{Scene, for_each_engine};
use jurist_store::traces::TraceListFilter;
use jurist_store::{Store, StoreError};

use crate::traces::{finished, id, piece};
use crate::{at, project};

#[test]
fn a_copy_is_a_whole_database() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        store.put_trace(support, &id("t"), &finished("x", 1), at(2)).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        let copied = store.backup(&path).await;
        if store.engine() == "postgres" {
            assert!(copied.unwrap_err().to_string().contains("pg_dump"));
            return;
        }
        copied.unwrap();
        assert!(matches!(store.backup(&path).await, Err(StoreError::Taken { .. })), "not written over");
        let copy = Store::open(path.to_str().unwrap()).await.unwrap();
        assert_eq!(copy.trace_content(support, &id("t")).await.unwrap().unwrap(), finished("x", 1).trace);
        assert_eq!(copy.check().await.unwrap(), []);
        copy.vacuum().await.unwrap();
    });
}

#[test]
fn damage_is_found() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        for name in ["a", "b", "c"] {
            store.put_trace(support, &id(name), &finished("x", 1), at(2)).await.unwrap();
        }
        store.put_pieces(support, vec![piece("p", "1", PieceKind::Span, 1, "x")], at(1)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), []);
        let bytes = if store.engine() == "postgres" { "'\\x01ffff'::bytea" } else { "x'01ffff'" };
        for sql in [
            format!("INSERT INTO trace_contents SELECT project, trace, 2, hash, {bytes}, created FROM trace_contents WHERE trace = 'a'"),
            "INSERT INTO trace_contents SELECT project, trace, 2, 'other', body, created FROM trace_contents WHERE trace = 'b'".into(),
            "DELETE FROM traces WHERE id = 'c'".into(),
            "DELETE FROM trace_contents WHERE trace = 'a' AND revision = 1".into(),
            "UPDATE pieces SET hash = 'other'".into(),
        ] {
            scene.execute(&sql).await.unwrap();
        }
        let problems = store.check().await.unwrap();
        let found: Vec<String> =
            problems.iter().map(|problem| format!("{}: {}", problem.what, problem.why)).collect();
        for expected in [
            "trace_contents: their traces are missing",
            "traces: they are finished and have no content",
            "trace_contents: it does not decompress",
            "trace_contents: the content differs from its hash",
            "pieces: the content differs from its hash",
        ] {
            assert!(found.iter().any(|found| found.starts_with(expected)), "{expected} in {found:?}");
        }
        assert_eq!(problems.len(), 5);
        assert!(store.trace_content(support, &id("a")).await.unwrap_err().to_string().contains("damaged"));
        store.vacuum().await.unwrap();
    });
}

/// Puts one trace after the other until it is killed, and says which were acknowledged.
#[test]
fn child_that_writes() {
    let Some(url) = std::env::var_os("JURIST_TEST_WRITE") else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(url.to_str().unwrap()).await.unwrap();
        let support = store.project_named("support").await.unwrap().unwrap().id;
        for n in 0.. {
            let name = format!("t{n}");
            let pieces =
                (0..5).map(|n| piece(&name, &n.to_string(), PieceKind::Span, 1, &"x".repeat(300))).collect();
            store.put_pieces(support, pieces, at(1)).await.unwrap();
            println!("acknowledged {n}");
        }
    });
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_was_acknowledged() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "care::child_that_writes", "--nocapture"])
            .env("JURIST_TEST_WRITE", &scene.url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = None;
        while last < Some(40) {
            let line = lines.next().unwrap().unwrap();
            last = line.strip_prefix("acknowledged ").map(|rest| rest.parse::<u64>().unwrap()).or(last);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What was said and not yet read counts, too.
        let said = lines
            .map_while(Result::ok)
            .filter_map(|map_while| map_while.strip_prefix("acknowledged ")?.parse::<u64>().ok());
        let last = said.last().or(last).unwrap();
        check_kept(&scene, support, last).await;
    });
}

async fn check_kept(scene: &Scene, support: jurist_store::ProjectId, last: u64) {
    let again = Store::open(&scene.url).await.unwrap();
    for n in 0..=last {
        assert_eq!(again.trace(support, &id(&format!("t{n}"))).await.unwrap().n_pieces, 5);
    }
    let all = again.traces(support, &TraceListFilter::default(), None, 100_000).await.unwrap().items;
    assert!(all.iter().all(|it| it.n_pieces == 5), "whole or not at all");
    assert_eq!(again.check().await.unwrap(), []);
}
