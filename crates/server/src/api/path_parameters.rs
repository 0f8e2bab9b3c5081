//! Descriptions of path parameters, which mean the same in all operations.

pub const ACCOUNT_ID: &str = "Id of the account, `acc_…`";
pub const ALERT_ID: &str = "Id of the alert, `alr_…`";
pub const ASSIGNMENT_ID: &str = "Id of the assignment, `asg_…`";
pub const CASE_KEY: &str = "Key of the case";
pub const DATASET: &str = "Name of the dataset";
pub const ITEM_ID: &str = "Id of the item, `itm_…`";
pub const JOB_ID: &str = "Id of the job, `job_…`";
pub const MONITOR: &str = "Name or id of the monitor";
pub const RUBRIC_ID: &str = "Id of the rubric, `rub_…`";
pub const RUBRIC_VERSION_ID: &str = "Id of the rubric version, `rubv_…`";
pub const RUN_ID: &str = "Id of the run, `run_…`";
pub const TASK_ID: &str = "Id of the annotation task, `ant_…`";
pub const TOKEN_ID: &str = "Id of the token, `tok_…`; this is not its secret";
pub const TRACE_ID: &str = "Id of the trace, as its sender chose it";
