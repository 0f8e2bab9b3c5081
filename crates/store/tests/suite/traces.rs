use jurist_core::candidate::{StepRole, Trace, TraceStep, Usage};
use jurist_core::grade::Usd;
use jurist_store::pieces::{NewPiece, PieceKind, PieceName};
use jurist_store::testing::for_each_engine;
use jurist_store::trace_counts::{TraceFacet, is_count_limited};
use jurist_store::traces::{Finish, FinishedTrace, PutOutcome, TraceListFilter, TraceOrder, TraceState};
use jurist_store::{Probability, StoreError, TraceId};
use serde_json::json;

use crate::{at, project};

pub fn id(text: &str) -> TraceId {
    TraceId::new(text).unwrap()
}

pub fn piece(trace: &str, name: &str, kind: PieceKind, seconds: i64, body: &str) -> NewPiece {
    NewPiece {
        trace: id(trace),
        id: name.into(),
        kind,
        time: at(seconds),
        body: body.into(),
        agent: Some("triage".into()),
        session: None,
    }
}

pub fn finished(said: &str, started: i64) -> FinishedTrace {
    let trace = Trace {
        steps: vec![TraceStep::new(StepRole::Assistant, said)],
        usage: Usage { input: 10, output: 5, cached: 2 },
        cost: Some(Usd::from_nanos(7)),
        status: Some("ok".into()),
        ..Trace::default()
    };
    FinishedTrace {
        trace,
        agent: Some("triage".into()),
        session: None,
        is_failed: false,
        started: at(started),
        duration: Some(1500),
        probability: Probability::new(0.5).unwrap(),
        metadata: json!({"tier": "gold"}),
    }
}

#[test]
fn pieces_are_put_together_and_read_back() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let long = "long ".repeat(1000);
        let pieces = vec![
            piece("t1", "b", PieceKind::Event, 2, &long),
            piece("t1", "end", PieceKind::Finish, 3, "{}"),
            piece("t1", "a", PieceKind::Start, 1, "{}"),
            piece("t2", "a", PieceKind::Span, 1, "{}"),
        ];
        let receipt = store.put_pieces(support, pieces, at(10)).await.unwrap();
        assert_eq!((receipt.n_new, receipt.n_repeated), (4, 0));
        let read = store.pieces(support, &id("t1")).await.unwrap();
        assert_eq!(read.iter().map(|read| read.id.as_str()).collect::<Vec<_>>(), ["a", "b", "end"]);
        assert_eq!(read[1].body.as_deref(), Some(long.as_bytes()));

        // The other has no end and was heard of too recently.
        let ready = store.ready_traces(at(10), at(9), 10).await.unwrap();
        assert_eq!(ready.iter().map(|ready| ready.trace.as_str()).collect::<Vec<_>>(), ["t1"]);
        assert_eq!(store.ready_traces(at(10), at(10), 10).await.unwrap().len(), 2);
        let done = store.finish_trace(&ready[0], &finished("hello", 1), at(11)).await.unwrap();
        assert_eq!(done, Finish::Done { revision: 1 });
        let head = store.trace(support, &id("t1")).await.unwrap();
        assert_eq!((head.state, head.n_pieces, head.n_late), (TraceState::Finished, 3, 0));
        assert_eq!(
            (head.cost, head.usage.input, head.probability.get()),
            (Some(Usd::from_nanos(7)), 10, 0.5)
        );
        assert_eq!(
            store.trace_content(support, &id("t1")).await.unwrap().unwrap(),
            finished("hello", 1).trace
        );
        assert!(matches!(
            store.trace(support, &id("none")).await,
            Err(StoreError::Unknown { what: "trace", .. })
        ));
    });
}

#[test]
fn repeats_change_nothing_and_conflicts_are_named() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let first = piece("t", "a", PieceKind::Span, 1, "one");
        store.put_pieces(support, vec![first.clone(), first.clone()], at(1)).await.unwrap();
        let receipt = store
            .put_pieces(support, vec![first.clone(), piece("t", "a", PieceKind::Span, 1, "two")], at(2))
            .await
            .unwrap();
        assert_eq!((receipt.n_new, receipt.n_repeated), (0, 1));
        assert_eq!(receipt.conflicts, [PieceName { trace: id("t"), id: "a".to_owned() }]);
        let receipt =
            store.put_pieces(support, vec![piece("t", "a", PieceKind::Span, 1, "two")], at(3)).await.unwrap();
        assert_eq!(receipt.conflicts.len(), 1);
        let other_kind = piece("t", "a", PieceKind::Event, 1, "one");
        assert_eq!(store.put_pieces(support, vec![other_kind], at(4)).await.unwrap().conflicts.len(), 1);
        let head = store.trace(support, &id("t")).await.unwrap();
        assert_eq!((head.n_pieces, head.updated), (1, at(1)));
        assert_eq!(store.pieces(support, &id("t")).await.unwrap()[0].body.as_deref(), Some(&b"one"[..]));
    });
}

#[test]
fn late_pieces_open_a_trace_again() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        store
            .put_pieces(support, vec![piece("t", "root", PieceKind::RootSpan, 1, "1")], at(1))
            .await
            .unwrap();
        let ready = store.ready_traces(at(1), at(0), 1).await.unwrap().remove(0);
        store.put_pieces(support, vec![piece("t", "b", PieceKind::Span, 1, "2")], at(2)).await.unwrap();
        assert_eq!(store.finish_trace(&ready, &finished("x", 1), at(3)).await.unwrap(), Finish::Moved);
        let ready = store.ready_traces(at(2), at(0), 1).await.unwrap().remove(0);
        assert_eq!(
            store.finish_trace(&ready, &finished("x", 1), at(3)).await.unwrap(),
            Finish::Done { revision: 1 }
        );
        assert!(store.ready_traces(at(9), at(9), 1).await.unwrap().is_empty());

        let late =
            store.put_pieces(support, vec![piece("t", "c", PieceKind::Span, 1, "3")], at(4)).await.unwrap();
        assert_eq!(late.reopened, [id("t")]);
        let head = store.trace(support, &id("t")).await.unwrap();
        assert_eq!((head.state, head.n_late, head.n_pieces), (TraceState::Reopened, 1, 3));
        let ready = store.ready_traces(at(4), at(0), 1).await.unwrap().remove(0);
        assert_eq!(
            store.finish_trace(&ready, &finished("y", 1), at(5)).await.unwrap(),
            Finish::Done { revision: 2 }
        );
        assert_eq!(
            store.finish_trace(&ready, &finished("y", 1), at(5)).await.unwrap(),
            Finish::Same { revision: 2 }
        );
        let first = store.trace_content_at(support, &id("t"), 1).await.unwrap().unwrap();
        assert_eq!(first.steps[0].text, "x");
        assert_eq!(store.trace_content(support, &id("t")).await.unwrap().unwrap().steps[0].text, "y");
    });
}

#[test]
fn a_whole_trace_is_kept_once() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let put = async |said| store.put_trace(support, &id("t"), &finished(said, 1), at(2)).await.unwrap();
        assert_eq!(
            (put("a").await, put("a").await, put("b").await),
            (PutOutcome::New, PutOutcome::Repeated, PutOutcome::Conflict)
        );
        let other = async |change: &dyn Fn(&mut FinishedTrace)| {
            let mut other = finished("a", 1);
            change(&mut other);
            store.put_trace(support, &id("t"), &other, at(3)).await.unwrap()
        };
        assert_eq!(other(&|it| it.agent = Some("another".into())).await, PutOutcome::Conflict);
        assert_eq!(other(&|it| it.is_failed = !it.is_failed).await, PutOutcome::Conflict);
        assert_eq!(other(&|it| it.metadata = json!({"team": "b"})).await, PutOutcome::Conflict);
        assert_eq!(other(&|it| it.agent = None).await, PutOutcome::Repeated, "says less, and not otherwise");
        let other = store.add_project("other", at(1)).await.unwrap().id;
        assert!(store.trace(other, &id("t")).await.is_err(), "projects do not see each other");
    });
}

#[test]
fn lists_are_filtered_and_paged_without_gaps() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        for n in 0..25_i64 {
            let mut one = finished("x", n / 5);
            one.is_failed = n % 10 == 0;
            one.agent = Some(if n % 2 == 0 { "even" } else { "odd" }.into());
            store.put_trace(support, &id(&format!("t{n:02}")), &one, at(50)).await.unwrap();
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.traces(support, &TraceListFilter::default(), after.as_ref(), 4).await.unwrap();
            seen.extend(page.items.iter().map(|head| head.id.to_string()));
            let Some(next) = page.next else { break };
            after = Some(next.to_string().parse().unwrap());
        }
        let expected: Vec<String> = (0..25).rev().map(|n| format!("t{n:02}")).collect();
        assert_eq!(seen, expected);
        let count = async |filter| store.traces(support, &filter, None, 100).await.unwrap().items.len();
        assert_eq!(
            count(TraceListFilter { agent: Some("odd".into()), ..TraceListFilter::default() }).await,
            12
        );
        assert_eq!(count(TraceListFilter { is_failed: Some(true), ..TraceListFilter::default() }).await, 3);
        assert_eq!(count(TraceListFilter { from: Some(at(4)), ..TraceListFilter::default() }).await, 5);
        assert_eq!(count(TraceListFilter { until: Some(at(1)), ..TraceListFilter::default() }).await, 5);
        assert_eq!(
            count(TraceListFilter { id_prefix: Some("t1".into()), ..TraceListFilter::default() }).await,
            10
        );
        assert_eq!(
            count(TraceListFilter { min_cost: Some(Usd::from_nanos(8)), ..TraceListFilter::default() }).await,
            0
        );

        let facet = async |filter: TraceListFilter, facet| {
            let counts = store.count_traces(support, &filter, facet).await.unwrap();
            assert!(!is_count_limited(&counts));
            counts.into_iter().map(|count| (count.value.unwrap(), count.n)).collect::<Vec<_>>()
        };
        let pair = |value: &str, n| (value.to_owned(), n);
        let odd = || TraceListFilter { agent: Some("odd".into()), ..TraceListFilter::default() };
        let none = TraceListFilter::default;
        assert_eq!(facet(none(), TraceFacet::Agent).await, [pair("even", 13), pair("odd", 12)]);
        assert_eq!(facet(odd(), TraceFacet::Agent).await, [pair("even", 13), pair("odd", 12)]);
        assert_eq!(facet(none(), TraceFacet::Failed).await, [pair("false", 22), pair("true", 3)]);
        assert_eq!(facet(odd(), TraceFacet::Failed).await, [pair("false", 12)]);
        assert_eq!(facet(odd(), TraceFacet::State).await, [pair("finished", 12)]);
        assert_eq!(facet(odd(), TraceFacet::Scored).await, [pair("false", 12)]);
        let nothing = TraceListFilter { search: Some("nothing".into()), ..none() };
        assert_eq!(facet(nothing, TraceFacet::Agent).await, []);
    });
}

#[test]
fn lists_are_sorted_by_what_traces_cost_and_took() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        for n in 0..12_i64 {
            let mut one = finished("x", 1);
            // Every fourth has neither, and some are alike.
            one.trace.cost = (n % 4 != 0).then(|| Usd::from_nanos(n / 2 * 10));
            one.duration = (n % 4 != 0).then_some(100 - n);
            store.put_trace(support, &id(&format!("t{n:02}")), &one, at(50)).await.unwrap();
        }
        let sorted = async |order: &str| {
            let filter = TraceListFilter { order: order.parse().unwrap(), ..TraceListFilter::default() };
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = store.traces(support, &filter, after.as_ref(), 2).await.unwrap();
                seen.extend(page.items.iter().map(|head| head.id.as_str()[1..].parse::<i64>().unwrap()));
                let Some(next) = page.next else { break seen };
                after = Some(next.to_string().parse().unwrap());
            }
        };
        assert_eq!(sorted("cost").await, [1, 2, 3, 5, 6, 7, 9, 10, 11]);
        assert_eq!(sorted("-cost").await, [11, 10, 9, 7, 6, 5, 3, 2, 1]);
        assert_eq!(sorted("duration").await, [11, 10, 9, 7, 6, 5, 3, 2, 1]);
        assert_eq!(sorted("time").await, (0..12).collect::<Vec<_>>());
        assert_eq!(sorted("score").await, [0_i64; 0], "none has one");
        let wrong = "colour".parse::<TraceOrder>().unwrap_err();
        assert!(wrong.contains("`colour`") && wrong.contains("duration"), "{wrong}");
    });
}

#[test]
fn traces_are_found_by_what_they_were_asked() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let put = async |name: &str, asked: &str, agent: &str, session: Option<&str>| {
            let mut one = finished("x", 1);
            one.trace.steps.insert(0, TraceStep::new(StepRole::User, asked));
            (one.agent, one.session) = (Some(agent.into()), session.map(str::to_owned));
            store.put_trace(support, &id(name), &one, at(2)).await.unwrap();
        };
        put("a1", &format!("Where is\n my   Parcel? {}", "long ".repeat(100)), "Support", None).await;
        put("B2", "100% sure_thing!", "sales", Some("Monday")).await;
        let found = async |text: &str| {
            let filter = TraceListFilter { search: Some(text.to_owned()), ..TraceListFilter::default() };
            let page = store.traces(support, &filter, None, 9).await.unwrap();
            page.items.iter().map(|head| head.id.to_string()).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("my parcel", "a1"),
            ("SUPPORT", "a1"),
            ("b2", "B2"),
            ("mond", "B2"),
            ("0% SURE_T", "B2"),
            ("g!", "B2"),
            ("a_1", ""),
            ("s%p", ""),
            ("'; --", ""),
        ] {
            assert_eq!(found(text).await, expected, "{text}");
        }
        let title = store.trace(support, &id("a1")).await.unwrap().title.unwrap();
        assert!(title.starts_with("Where is my Parcel? long") && title.ends_with('…'), "{title}");
        assert_eq!(title.chars().count(), 201);
        store.erase_traces(support, at(9), 9).await.unwrap();
        assert_eq!((found("parcel").await.as_str(), found("support").await.as_str()), ("", "a1"));
    });
}

#[test]
fn texts_can_be_erased_and_numbers_stay() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        store
            .put_pieces(support, vec![piece("t", "a", PieceKind::Finish, 1, "secret")], at(1))
            .await
            .unwrap();
        let ready = store.ready_traces(at(1), at(0), 1).await.unwrap().remove(0);
        store.finish_trace(&ready, &finished("secret", 1), at(2)).await.unwrap();
        assert_eq!(store.erase_traces(support, at(1), 10).await.unwrap(), 0);
        assert_eq!(store.erase_traces(support, at(2), 10).await.unwrap(), 1);
        assert_eq!(store.trace_content(support, &id("t")).await.unwrap(), None);
        let head = store.trace(support, &id("t")).await.unwrap();
        assert_eq!((head.state, head.cost), (TraceState::Erased, Some(Usd::from_nanos(7))));
        assert_eq!(store.pieces(support, &id("t")).await.unwrap()[0].body, None);
        let again =
            store.put_pieces(support, vec![piece("t", "a", PieceKind::Finish, 1, "secret")], at(3)).await;
        assert_eq!(again.unwrap().n_repeated, 1);
    });
}

#[test]
fn batches_that_come_at_the_same_time_are_all_kept() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let put = |n: usize| {
            let store = scene.store.clone();
            let pieces: Vec<NewPiece> = (0..20)
                .map(|it| piece(&format!("t{}", it % 3), &format!("{n}.{it}"), PieceKind::Span, 1, "x"))
                .collect();
            tokio::spawn(async move { store.put_pieces(support, pieces, at(1)).await.unwrap().n_new })
        };
        let tasks: Vec<_> = (0..30).map(put).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 20);
        }
        let n: u64 = {
            let page = scene.store.traces(support, &TraceListFilter::default(), None, 10).await.unwrap();
            page.items.iter().map(|head| head.n_pieces).sum()
        };
        assert_eq!(n, 600);
    });
}

#[test]
fn contents_of_several_traces_are_read_at_once() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        for name in ["a", "b"] {
            store.put_trace(support, &id(name), &finished(name, 1), at(2)).await.unwrap();
        }
        store.put_pieces(support, vec![piece("open", "1", PieceKind::Span, 1, "x")], at(1)).await.unwrap();
        let ids = ["a", "open", "unknown"].map(id);
        let mut found = store.traces_with_content(support, &ids).await.unwrap();
        found.sort_by(|a, b| a.head.id.cmp(&b.head.id));
        let contents: Vec<(&str, bool)> =
            found.iter().map(|trace| (trace.head.id.as_str(), trace.content.is_some())).collect();
        assert_eq!(contents, [("a", true), ("open", false)]);
        assert_eq!(found[0].content, Some(finished("a", 1).trace));
        assert!(store.traces_with_content(support, &[]).await.unwrap().is_empty());
        let readable = store.readable_traces(support, &ids).await.unwrap();
        assert_eq!(readable.into_iter().collect::<Vec<_>>(), ["a", "open"].map(id));
    });
}
