//! How the errors of services are answered.

use crate::annotate::TaskError;
use crate::error::{ApiError, bad_request};
use crate::ingest::{BadArrival, BadExport};
use crate::job::WorkRefusal;
use crate::monitor::{NotApplied, NotCompared, NotRescored};
use crate::notify::{BadQuiet, BadWebhook};

bad_request!(BadArrival, BadExport, BadQuiet);

impl From<BadWebhook> for ApiError {
    fn from(bad: BadWebhook) -> Self {
        match bad {
            BadWebhook::Address => Self::bad(bad),
            BadWebhook::Private(_) | BadWebhook::NoSecret(_) => Self::Senseless(bad.to_string()),
        }
    }
}

impl From<WorkRefusal> for ApiError {
    fn from(refused: WorkRefusal) -> Self {
        match refused {
            WorkRefusal::NotAllowed(_) => Self::Forbidden(refused.to_string()),
            WorkRefusal::Wrong(_) => Self::Bad(refused.to_string()),
            WorkRefusal::Suite(_) | WorkRefusal::NoPlan(_) | WorkRefusal::NoJudge(_) => {
                Self::Senseless(refused.to_string())
            }
        }
    }
}

impl From<NotApplied> for ApiError {
    fn from(error: NotApplied) -> Self {
        match error {
            NotApplied::Store(error) => error.into(),
            NotApplied::Judge(refused) => refused.into(),
            NotApplied::File(_) | NotApplied::Anchors(_) | NotApplied::Rubric(_) => {
                Self::Senseless(error.to_string())
            }
        }
    }
}

impl From<NotCompared> for ApiError {
    fn from(error: NotCompared) -> Self {
        match error {
            NotCompared::Store(error) => error.into(),
            NotCompared::NoPairs(..) | NotCompared::Monitor(_) | NotCompared::Same(_) => {
                Self::Senseless(error.to_string())
            }
        }
    }
}

impl From<TaskError> for ApiError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Store(error) => error.into(),
            TaskError::Settings(_) | TaskError::Nothing(_) => Self::Senseless(error.to_string()),
        }
    }
}

impl From<NotRescored> for ApiError {
    fn from(error: NotRescored) -> Self {
        match error {
            NotRescored::Store(error) => error.into(),
            NotRescored::Judge(refused) => refused.into(),
            NotRescored::Monitor(_)
            | NotRescored::Nothing(_)
            | NotRescored::NoErrors(_)
            | NotRescored::NoneOverBudget(_) => Self::Senseless(error.to_string()),
        }
    }
}
