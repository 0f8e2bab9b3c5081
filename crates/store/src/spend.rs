//! Spend and reservations. The largest possible cost of a call is reserved before the call and settled after it, so
//! that concurrent calls cannot exceed a cap together.
//!
//! Months are UTC months; a reservation is settled in the month in which it was made. A reservation that cannot be
//! settled, because its worker died, counts as spent in full: the call may have been made, and no month may cost more
//! than its cap.

use std::time::Duration;

use jurist_core::grade::{Time, Usd};
use jurist_core::money::Month;

use crate::clock::utc_day_start;
use crate::db::{DbRow, Tx, args, statements};
use crate::jobs::Job;
use crate::{ProjectId, ReservationId, Store, StoreError};

/// A reservation for one call.
#[derive(Debug, Clone, Copy)]
pub struct ReservationRequest<'a> {
    /// The highest cost that the call can have.
    pub amount: Usd,
    /// Such as `run` or `monitor`.
    pub purpose: &'a str,
    /// The run or monitor that pays.
    pub subject: &'a str,
    /// Budget of the subject, in addition to the cap of the project.
    pub limit: Option<Limit>,
    pub model: &'a str,
    /// The job that makes the call. The reservation is valid as long as a worker holds the job's lease.
    pub job: Option<&'a Job>,
}

/// Budget of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    InAll(Usd),
    InMonth(Usd),
}

/// Result of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserve {
    Held(ReservationId),
    /// The reservation would exceed the project's cap.
    OverCap(MonthSpend),
    /// The reservation would exceed the subject's limit; these are the subject's sums.
    OverLimit(MonthSpend),
}

/// Spend of a project's month, or of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthSpend {
    /// `None` is no limit.
    pub cap: Option<Usd>,
    /// Reserved for calls in progress.
    pub reserved: Usd,
    pub settled: Usd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub id: ReservationId,
    pub project: ProjectId,
    pub amount: Usd,
    pub purpose: String,
    pub time: Time,
}

/// A day's payments for one purpose, subject and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaySpend {
    pub day: Time,
    pub purpose: String,
    pub subject: String,
    pub model: String,
    pub settled: Usd,
    /// The part of it that was never settled and counts as spent in full.
    pub assumed: Usd,
    pub n: u64,
}

statements! {
    OPEN_MONTH = "INSERT INTO spend_months (project, month, reserved, settled) VALUES ($1, $2, 0, 0)
        ON CONFLICT DO NOTHING";
    // Check and update are one statement: a transaction that waited for the row evaluates the condition again, so
    // two reservations can never use the same remainder.
    RESERVE = "UPDATE spend_months SET reserved = reserved + $3 WHERE project = $1 AND month = $2
        AND (SELECT CASE WHEN monthly_cap IS NULL THEN 1
             WHEN spend_months.reserved + spend_months.settled + $3 <= monthly_cap THEN 1 ELSE 0 END
             FROM projects WHERE id = $1) = 1";
    OPEN_SUBJECT = "INSERT INTO spend_subjects (project, subject, month, reserved, settled)
        VALUES ($1, $2, $3, 0, 0) ON CONFLICT DO NOTHING";
    // RESERVE has locked the month's row, so no other reservation of this project runs at the same time.
    RESERVE_FOR = "UPDATE spend_subjects SET reserved = reserved + $4
        WHERE project = $1 AND subject = $2 AND month = $3 AND (CAST($5 AS BIGINT) IS NULL
        OR (SELECT SUM(s.reserved + s.settled) FROM spend_subjects s WHERE s.project = $1 AND s.subject = $2
            AND (CAST($6 AS TEXT) IS NULL OR s.month = $6)) + $4 <= $5)";
    HOLD = "INSERT INTO reservations (id, project, month, amount, purpose, time, subject, model, job, worker, attempt)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING";
    RESERVED = "SELECT id FROM reservations WHERE id = $1";
    NOTE = "INSERT INTO spend_ledger (reservation, kind, project, month, amount, purpose, time, subject, model)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    LET_GO = "DELETE FROM reservations WHERE project = $1 AND id = $2
        RETURNING month, amount, purpose, subject, model";
    SETTLE = "UPDATE spend_months SET reserved = reserved - $3, settled = settled + $4
        WHERE project = $1 AND month = $2";
    SETTLE_FOR = "UPDATE spend_subjects SET reserved = reserved - $4, settled = settled + $5
        WHERE project = $1 AND month = $2 AND subject = $3";
    ADD_FOR = "INSERT INTO spend_subjects (project, subject, month, reserved, settled) VALUES ($1, $2, $3, 0, $4)
        ON CONFLICT (project, subject, month) DO UPDATE SET settled = spend_subjects.settled + excluded.settled";
    MONTH = "SELECT projects.monthly_cap AS cap, spend_months.reserved, spend_months.settled FROM projects
        LEFT JOIN spend_months ON spend_months.project = projects.id AND spend_months.month = $2
        WHERE projects.id = $1";
    SUBJECT = "SELECT CAST(COALESCE(SUM(reserved), 0) AS BIGINT) AS reserved,
        CAST(COALESCE(SUM(settled), 0) AS BIGINT) AS settled FROM spend_subjects
        WHERE project = $1 AND subject = $2 AND (CAST($3 AS TEXT) IS NULL OR month = $3)";
    STALE = "SELECT * FROM reservations r WHERE r.time < $1 AND (r.job IS NOT NULL OR r.time < $2)
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = r.job AND jobs.state = 'leased'
            AND jobs.leased_by = r.worker AND jobs.attempts = r.attempt AND $3 < jobs.ready)
        ORDER BY r.time LIMIT $4";
    ADD_TO_DAY = "INSERT INTO spend_days (project, day, purpose, subject, model, settled, assumed, n)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 1) ON CONFLICT (project, day, purpose, subject, model) DO UPDATE
        SET settled = spend_days.settled + excluded.settled, assumed = spend_days.assumed + excluded.assumed,
            n = spend_days.n + 1";
    BY_DAY = "SELECT day, purpose, subject, model, settled, assumed, n FROM spend_days
        WHERE project = $1 AND $2 <= day AND day < $3 ORDER BY day, purpose, subject, model";
}

/// How long a worker that has just lost a job's lease may take to settle its reservations.
const GRACE: Duration = Duration::from_secs(10);

/// A reservation without a job counts as stale after this time, which is longer than any call takes.
const LONGEST: Duration = Duration::from_secs(3600);

impl Store {
    /// Reserves an amount if the month's cap and the subject's limit allow it.
    pub async fn reserve(
        &self,
        project: ProjectId,
        wanted: &ReservationRequest<'_>,
        now: Time,
    ) -> Result<Reserve, StoreError> {
        self.reserve_as(ReservationId::at(now), project, wanted, now).await
    }

    /// The same under an id of the caller, who repeats the request with this id where the answer was lost. Without it, a
    /// reservation that was made although its answer was lost would belong to no call, and the call would wait for the
    /// money that it holds itself.
    pub async fn reserve_as(
        &self,
        id: ReservationId,
        project: ProjectId,
        wanted: &ReservationRequest<'_>,
        now: Time,
    ) -> Result<Reserve, StoreError> {
        let month = Month::of(now).to_string();
        let (nanos, subject) = (wanted.amount.nanos().max(0), wanted.subject);
        let mut tx = self.db.begin().await?;
        tx.execute(OPEN_MONTH, args![project, &month]).await?;
        if tx.execute(RESERVE, args![project, &month, nanos]).await? == 0 {
            drop(tx);
            if self.is_reserved(id).await? {
                return Ok(Reserve::Held(id));
            }
            return self.month_spend(project, now).await.map(Reserve::OverCap);
        }
        tx.execute(OPEN_SUBJECT, args![project, subject, &month]).await?;
        let (limit, within) = match wanted.limit {
            None => (None, None),
            Some(Limit::InAll(most)) => (Some(most), None),
            Some(Limit::InMonth(most)) => (Some(most), Some(month.as_str())),
        };
        let args = args![project, subject, &month, nanos, limit.map(Usd::nanos), within];
        if tx.execute(RESERVE_FOR, args).await? == 0 {
            drop(tx);
            if self.is_reserved(id).await? {
                return Ok(Reserve::Held(id));
            }
            let spent = self.subject_spend(project, subject, within).await?;
            return Ok(Reserve::OverLimit(MonthSpend { cap: limit, ..spent }));
        }
        let (purpose, model) = (wanted.purpose, wanted.model);
        let job = wanted.job.map(|job| job.id);
        let (worker, attempt) =
            (wanted.job.and_then(|job| job.leased_by.as_deref()), wanted.job.map(|job| job.attempts as i64));
        let held = args![id, project, &month, nanos, purpose, now, subject, model, job, worker, attempt];
        if tx.execute(HOLD, held).await? == 0 {
            return Ok(Reserve::Held(id));
        }
        let noted = args![id, "reserve", project, &month, nanos, purpose, now, subject, model];
        tx.execute(NOTE, noted).await?;
        tx.commit().await?;
        Ok(Reserve::Held(id))
    }

    async fn is_reserved(&self, id: ReservationId) -> Result<bool, StoreError> {
        Ok(self.db.optional(RESERVED, args![id]).await?.is_some())
    }

    /// Settles a reservation at the real cost and releases the rest; a cost of zero releases everything.
    ///
    /// `false` if it was settled before; the earlier amount stays.
    pub async fn settle(
        &self,
        project: ProjectId,
        reservation: ReservationId,
        cost: Usd,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.pay(project, reservation, Some(cost), now).await
    }

    /// Settles a reservation at its full amount, because the real cost is unknown.
    ///
    /// `false` if it was settled before; the earlier amount stays.
    pub async fn assume_spent(
        &self,
        project: ProjectId,
        reservation: ReservationId,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.pay(project, reservation, None, now).await
    }

    async fn pay(
        &self,
        project: ProjectId,
        reservation: ReservationId,
        cost: Option<Usd>,
        now: Time,
    ) -> Result<bool, StoreError> {
        let mut tx: Tx = self.db.begin().await?;
        let Some(row) = tx.optional(LET_GO, args![project, reservation]).await? else { return Ok(false) };
        let (month, held): (String, i64) = (row.get("month")?, row.get("amount")?);
        let (purpose, subject): (String, Option<String>) = (row.get("purpose")?, row.get("subject")?);
        let model: Option<String> = row.get("model")?;
        let kind = if cost.is_some() { "settle" } else { "assume" };
        let paid = cost.map_or(held, |usd| usd.nanos().max(0));
        tx.execute(SETTLE, args![project, &month, held, paid]).await?;
        tx.execute(SETTLE_FOR, args![project, &month, subject.as_deref(), held, paid]).await?;
        let (subject, model) = (subject.as_deref(), model.as_deref());
        let noted = args![reservation, kind, project, &month, paid, &purpose, now, subject, model];
        tx.execute(NOTE, noted).await?;
        let assumed = if cost.is_some() { 0 } else { paid };
        let (subject, model) = (subject.unwrap_or_default(), model.unwrap_or_default());
        let added = args![project, utc_day_start(now), purpose, subject, model, paid, assumed];
        tx.execute(ADD_TO_DAY, added).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Adds the cost of a run that was executed on a user's machine. The cap of the project applies to servers only, so
    /// this does not count against it.
    pub async fn add_subject_cost(
        &self,
        project: ProjectId,
        subject: &str,
        cost: Usd,
        now: Time,
    ) -> Result<(), StoreError> {
        let args = args![project, subject, Month::of(now).to_string(), cost.nanos().max(0)];
        self.db.execute(ADD_FOR, args).await.map(drop)
    }

    /// Spend of the month that contains a time.
    pub async fn month_spend(&self, project: ProjectId, time: Time) -> Result<MonthSpend, StoreError> {
        let row = self.db.optional(MONTH, args![project, Month::of(time).to_string()]).await?;
        let row = row.ok_or_else(|| StoreError::unknown("project", &project))?;
        let sum = |column| Ok::<_, StoreError>(row.maybe_usd(column)?.unwrap_or_default());
        Ok(MonthSpend { cap: row.maybe_usd("cap")?, reserved: sum("reserved")?, settled: sum("settled")? })
    }

    /// Spend of a run or monitor, in total or in a month such as `2026-03`.
    pub async fn subject_spend(
        &self,
        project: ProjectId,
        subject: &str,
        month: Option<&str>,
    ) -> Result<MonthSpend, StoreError> {
        let row = self.db.one(SUBJECT, args![project, subject, month]).await?;
        let sum = |column| Ok::<_, StoreError>(Usd::from_nanos(row.get(column)?));
        Ok(MonthSpend { cap: None, reserved: sum("reserved")?, settled: sum("settled")? })
    }

    /// Reservations that cannot be settled, because no worker holds the lease of their job. Their calls may have been
    /// made.
    pub async fn stale_reservations(&self, now: Time, limit: usize) -> Result<Vec<Reservation>, StoreError> {
        let before = |duration: Duration| {
            Time::from_micros(now.micros() - i64::try_from(duration.as_micros()).unwrap_or(0))
        };
        let args = args![before(GRACE), before(LONGEST), now, limit];
        self.db.fetch(STALE, args).await?.iter().map(read_reservation_row).collect()
    }

    /// Spend of whole UTC days by purpose, subject and model.
    pub async fn spend_by_day(
        &self,
        project: ProjectId,
        from: Time,
        until: Time,
    ) -> Result<Vec<DaySpend>, StoreError> {
        let day = |row: &DbRow| {
            Ok(DaySpend {
                day: row.time("day")?,
                purpose: row.get("purpose")?,
                subject: row.get("subject")?,
                model: row.get("model")?,
                settled: Usd::from_nanos(row.get("settled")?),
                assumed: Usd::from_nanos(row.get("assumed")?),
                n: row.count("n")?,
            })
        };
        self.db.fetch(BY_DAY, args![project, utc_day_start(from), until]).await?.iter().map(day).collect()
    }
}

impl MonthSpend {
    /// The amount that can still be reserved; `None` is no limit.
    pub fn remaining_amount(&self) -> Option<Usd> {
        let left = self.cap?.nanos() - self.reserved.nanos() - self.settled.nanos();
        Some(Usd::from_nanos(left.max(0)))
    }

    /// Whether an amount would fit if all current reservations were released.
    pub fn may_fit(&self, amount: Usd) -> bool {
        self.cap.is_none_or(|cap| self.settled.plus(amount) <= cap)
    }
}

fn read_reservation_row(row: &DbRow) -> Result<Reservation, StoreError> {
    Ok(Reservation {
        id: row.parse("id")?,
        project: row.parse("project")?,
        amount: Usd::from_nanos(row.get("amount")?),
        purpose: row.get("purpose")?,
        time: row.time("time")?,
    })
}
