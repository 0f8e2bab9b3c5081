//! What jobs are made of: kinds, payloads, how a job ends, and the settings of the machine that does the work.
//!
//! Services add jobs and `work` executes them, so both use this module.

mod contest_task;
mod criteria;
mod job_end;
mod monitor_judges;
mod monitor_task;
mod refusal;
mod work_settings;

pub use contest_task::{ContestTask, KIND as CONTEST};
pub use criteria::{find_criterion, is_met};
pub use job_end::{JobEnd, JobError};
pub use monitor_judges::{ResolvedJudges, build_monitor_judges};
pub use monitor_task::{KIND as MONITOR, MonitorTask, NO_MONEY, NOTHING_TO_JUDGE, PAUSED};
pub use refusal::{WorkRefusal, format_load_errors};
pub use work_settings::{Environment, Work};
