//! Sends a new version to a server, in parts if it is large.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use jurist_core::dataset::{DatasetReference, MAX_DATASET_CASES, read_record_key};
use jurist_server::datasets::{DatasetVersionReceipt, NewDatasetVersion};
use reqwest::Method;
use serde_json::{Value as Json, json};

use super::target::DatasetBackend;
use crate::connection::remote::{Remote, encode_url_part};
use crate::render::{self, printable};

/// Bytes of the records of one request. Servers take 32 MiB by default.
const MAX_PART_BYTES: usize = 16 << 20;

impl DatasetBackend {
    /// Sends a version. Records that do not fit into one request are sent in several, and each makes a version.
    pub(super) async fn send_version(
        &self,
        remote: &Remote,
        name: &str,
        mut new: NewDatasetVersion,
    ) -> anyhow::Result<DatasetVersionReceipt> {
        let parts = split_records(std::mem::take(&mut new.records), MAX_PART_BYTES);
        if parts.len() <= 1 {
            new.records = parts.into_iter().next().unwrap_or_default();
            return send_part(remote, name, &new).await;
        }
        if new.replace {
            new.remove = self.list_absent_keys(name, &new, &parts).await?;
            new.replace = false;
        }
        send_parts(remote, name, new, parts).await
    }

    /// Keys of cases of the newest version that are not among those which replace it.
    async fn list_absent_keys(
        &self,
        name: &str,
        new: &NewDatasetVersion,
        parts: &[Vec<Json>],
    ) -> anyhow::Result<Vec<String>> {
        ensure!(
            new.traces.is_empty() && new.trace_filter.is_none() && new.annotation_task.is_none(),
            "--replace takes files of more than {} MiB only without traces and tasks; add those afterwards",
            MAX_PART_BYTES >> 20
        );
        let keys = read_distinct_keys(parts.iter().flatten())?;
        ensure!(
            keys.len() == parts.iter().map(Vec::len).sum::<usize>(),
            "--replace takes files of more than {} MiB only if each record has an `id`",
            MAX_PART_BYTES >> 20
        );
        let Some(version) = new.base.filter(|base| *base != 0) else { return Ok(Vec::new()) };
        let reference = DatasetReference { name: name.to_owned(), version: Some(version), split: None };
        let present = self.cases(&reference, MAX_DATASET_CASES).await?.items;
        Ok(present.into_iter().map(|case| case.key).filter(|key| !keys.contains(key)).collect())
    }
}

async fn send_part(
    remote: &Remote,
    name: &str,
    part: &NewDatasetVersion,
) -> anyhow::Result<DatasetVersionReceipt> {
    let path = format!("/datasets/{}/versions", encode_url_part(name));
    let written = remote.ask(Method::POST, &path, Some(&json!(part))).await?;
    Ok(serde_json::from_value(written)?)
}

/// The first part has all that is not a record, so that cases are removed before others are added.
async fn send_parts(
    remote: &Remote,
    name: &str,
    new: NewDatasetVersion,
    parts: Vec<Vec<Json>>,
) -> anyhow::Result<DatasetVersionReceipt> {
    let (n_parts, n_records) = (parts.len(), parts.iter().map(Vec::len).sum::<usize>());
    let (note, rubric) = (new.note.clone(), new.rubric.clone());
    let (mut next, mut sum, mut n_sent) = (new, None::<DatasetVersionReceipt>, 0);
    let mut progress = render::ProgressLine::new();
    for records in parts {
        let n_in_part = records.len();
        next.records = records;
        let sent = send_part(remote, name, &next).await;
        let receipt = sent.with_context(|| match &sum {
            Some(sum) => format!(
                "{}@v{} has {n_sent} of {n_records} records; run the command again to send the others",
                printable(name),
                sum.version
            ),
            None => "no record was stored".to_owned(),
        })?;
        n_sent += n_in_part;
        progress.show(|| format!("{n_sent} of {n_records} records sent"));
        let base = Some(receipt.version);
        let (note, rubric) = (note.clone(), rubric.clone());
        next = NewDatasetVersion { base, note, rubric, ..NewDatasetVersion::default() };
        sum = Some(match sum {
            Some(sum) => add_receipts(&sum, &receipt),
            None => receipt,
        });
    }
    progress.clear();
    render::print_note(&format!("sent in {n_parts} parts; each part with a change is a version"));
    sum.context("there was nothing to send")
}

/// The receipt of both, one after the other.
fn add_receipts(first: &DatasetVersionReceipt, second: &DatasetVersionReceipt) -> DatasetVersionReceipt {
    DatasetVersionReceipt {
        version: second.version,
        is_new: first.is_new || second.is_new,
        n_cases: second.n_cases,
        n_added: first.n_added + second.n_added,
        n_changed: first.n_changed + second.n_changed,
        n_unchanged: first.n_unchanged + second.n_unchanged,
        n_removed: first.n_removed + second.n_removed,
        n_skipped: first.n_skipped + second.n_skipped,
    }
}

/// Records in their order, with up to `max_bytes` in a part. A larger record is a part of its own.
fn split_records(records: Vec<Json>, max_bytes: usize) -> Vec<Vec<Json>> {
    let (mut parts, mut n_bytes) = (Vec::<Vec<Json>>::new(), 0);
    for record in records {
        let n = record.to_string().len() + 1;
        match parts.last_mut().filter(|_| n_bytes + n <= max_bytes) {
            Some(part) => part.push(record),
            None => {
                parts.push(vec![record]);
                n_bytes = 0;
            }
        }
        n_bytes += n;
    }
    parts
}

/// The keys that records have by themselves, all different. In two parts, the second case would replace the first.
pub(super) fn read_distinct_keys<'a>(
    records: impl Iterator<Item = &'a Json>,
) -> anyhow::Result<BTreeSet<String>> {
    let mut keys = BTreeSet::new();
    for (at, record) in records.enumerate() {
        let place = || format!("record {}", at + 1);
        if let Some(key) = read_record_key(record).with_context(place)?
            && !keys.insert(key.clone())
        {
            anyhow::bail!("{}: the key `{}` is given twice; keys must differ", place(), printable(&key));
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_split_by_their_size() {
        let record = |output: &str| json!({ "id": output, "output": output });
        let large = "x".repeat(300);
        let records = vec![record("a"), record("b"), record(&large), record("c")];
        let sizes = |max_bytes| -> Vec<usize> {
            split_records(records.clone(), max_bytes).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(1_000_000), [4]);
        assert_eq!(sizes(60), [2, 1, 1]);
        assert_eq!(sizes(1), [1, 1, 1, 1]);
        assert!(split_records(Vec::new(), 60).is_empty());
        let all: Vec<Json> = split_records(records.clone(), 60).into_iter().flatten().collect();
        assert_eq!(all, records);
    }

    #[test]
    fn a_key_in_two_parts_is_refused() {
        let records = [json!({ "id": "a" }), json!({ "output": "x" }), json!({ "id": "a" })];
        let refused = read_distinct_keys(records.iter()).unwrap_err().to_string();
        assert_eq!(refused, "record 3: the key `a` is given twice; keys must differ");
        assert_eq!(read_distinct_keys(records[..2].iter()).unwrap().len(), 1);
    }
}
