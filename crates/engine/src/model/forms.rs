//! Which form of request a model takes, learned from what its server refuses.
//!
//! A refusal counts only if it names the form, and only if the same request succeeds in the next form. What was
//! learned holds for one model at one address and expires, since servers are upgraded and put right.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

/// How long a form is remembered. After it, one request tries the first form again.
pub const FORM_LIFETIME: Duration = Duration::from_secs(600);

/// While one request tries the first form again, the others use the form that was learned, for at most this time.
const TRIAL_TIME: Duration = Duration::from_secs(60);

/// How a request is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestForm {
    /// The place of the form of structured output among those that the endpoint may take.
    pub(super) shape: usize,
    pub(super) temperature: bool,
    /// Whether the token limit is sent under its other name: vendors of one protocol name it differently.
    pub(super) other_limit: bool,
    /// Whether log-probabilities are requested where the caller wants them.
    pub(super) log_probabilities: bool,
}

impl RequestForm {
    pub(super) const FIRST: Self =
        Self { shape: 0, temperature: true, other_limit: false, log_probabilities: true };
}

/// The part of a request that a server does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusedPart {
    /// The form of structured output.
    Shape,
    Temperature,
    /// The name of the limit of tokens.
    LimitName,
    LogProbabilities,
}

/// The parts of a request that a server's message refuses, the likeliest first; none if it is about something else.
pub(super) fn refused_parts(message: &str) -> Vec<RefusedPart> {
    let message = message.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
    // A prompt that is too long is too long in every form, and the message often names `max_tokens`.
    if names(TOO_LONG) {
        return Vec::new();
    }
    let names_limit = names(&["max_tokens", "max_completion_tokens"]);
    let parts = [
        (RefusedPart::LogProbabilities, names(&["logprobs", "log probabilities", "log_probabilities"])),
        (RefusedPart::Temperature, names(&["temperature"])),
        (RefusedPart::LimitName, names_limit && names(NOT_KNOWN)),
        (RefusedPart::Shape, names(SHAPES) || (!names_limit && names(NOT_NAMED))),
    ];
    parts.into_iter().filter(|(_, is_named)| *is_named).map(|(part, _)| part).collect()
}

/// Words about the length of a prompt or reply.
const TOO_LONG: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "input tokens",
    "input token count",
    "maximum number of tokens",
    "reduce the length",
];

/// Phrases of errors about a field that a server does not know, or knows by another name.
const NOT_KNOWN: &[&str] = &[
    "unsupported",
    "not support",
    "unrecognized",
    "unknown",
    "unexpected",
    "not permitted",
    "not allowed",
    "deprecated",
    "extra",
    "instead",
    "required",
];

/// Names of the fields that hold a form.
const SHAPES: &[&str] = &[
    "response_format",
    "response format",
    "json_schema",
    "json_object",
    "json schema",
    "json mode",
    "tool_choice",
    "tool choice",
    "support tool",
    "tools",
    "function call",
    "output_config",
    "text.format",
    "responsejsonschema",
    "response_json_schema",
    "responseschema",
    "response_schema",
    "responsemimetype",
    "structured output",
    "schema",
    "grammar",
    "guided",
];

/// Words for a field that is not named.
const NOT_NAMED: &[&str] = &[
    "unsupported parameter",
    "unknown parameter",
    "unknown field",
    "unrecognized request argument",
    "extra inputs",
    "extra fields",
];

/// Tells the time; tests have their own.
pub type MonotonicClock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// What is remembered about every model, by its address and name.
#[derive(Clone)]
pub struct FormMemory {
    models: Arc<Mutex<HashMap<String, Arc<ModelForms>>>>,
    clock: MonotonicClock,
}

impl Default for FormMemory {
    fn default() -> Self {
        Self::new(Arc::new(Instant::now))
    }
}

impl std::fmt::Debug for FormMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FormMemory").finish_non_exhaustive()
    }
}

impl FormMemory {
    pub fn new(clock: MonotonicClock) -> Self {
        Self { models: Arc::default(), clock }
    }

    /// What is known about one model. Where it is known that the first form is taken, no request has to find out.
    pub(super) fn of_model(&self, url: &str, model: &str, is_known: bool) -> Arc<ModelForms> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let forms = models.entry(format!("{url} {model}")).or_insert_with(|| {
            let first = OnceCell::new_with(is_known.then_some(()));
            Arc::new(ModelForms { first, learned: Mutex::default(), clock: Arc::clone(&self.clock) })
        });
        Arc::clone(forms)
    }
}

/// What is remembered about one model.
pub(super) struct ModelForms {
    /// Where it is unknown which form a server accepts, the first request finds out and the others wait for it.
    pub(super) first: OnceCell<()>,
    learned: Mutex<Option<LearnedForm>>,
    clock: MonotonicClock,
}

#[derive(Debug, Clone, Copy)]
struct LearnedForm {
    form: RequestForm,
    until: Instant,
}

impl std::fmt::Debug for ModelForms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelForms").field("learned", &self.learned).finish_non_exhaustive()
    }
}

impl ModelForms {
    fn lock_learned_form(&self) -> MutexGuard<'_, Option<LearnedForm>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form that is in use.
    pub(super) fn current(&self) -> RequestForm {
        self.lock_learned_form().map_or(RequestForm::FIRST, |learned| learned.form)
    }

    /// The form to begin a request with: what was learned, or the first form if that has expired.
    pub(super) fn begin(&self) -> RequestForm {
        let now = (self.clock)();
        match &mut *self.lock_learned_form() {
            Some(learned) if learned.until <= now => {
                learned.until = now + TRIAL_TIME;
                RequestForm::FIRST
            }
            Some(learned) => learned.form,
            None => RequestForm::FIRST,
        }
    }

    /// A request that was begun in one form has succeeded in another, or in the first form again.
    pub(super) fn confirm(&self, form: RequestForm) {
        let until = (self.clock)() + FORM_LIFETIME;
        *self.lock_learned_form() = (form != RequestForm::FIRST).then_some(LearnedForm { form, until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_the_form_is_about_the_form() {
        let (shape, limit, none) = (vec![RefusedPart::Shape], vec![RefusedPart::LimitName], Vec::new());
        let log_probabilities = vec![RefusedPart::LogProbabilities];
        for (message, expected) in [
            ("response_format.type: unexpected value", &shape),
            ("json_schema is not supported", &shape),
            ("registry.ollama.ai/library/gemma does not support tools", &shape),
            ("\"auto\" tool choice requires --enable-auto-tool-choice", &shape),
            ("Invalid schema for response_format 'grade': too many enum values", &shape),
            ("Unknown field: generationConfig.responseJsonSchema", &shape),
            ("Unsupported parameter", &shape),
            ("`temperature` is deprecated for this model.", &vec![RefusedPart::Temperature]),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                &limit,
            ),
            ("Unrecognized field max_completion_tokens, use max_tokens", &limit),
            ("You are not allowed to request logprobs from this model", &log_probabilities),
            ("'logprobs' is not supported with this model.", &log_probabilities),
            ("max_tokens is too large: 32768. This model supports at most 16384 completion tokens", &none),
            ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", &none),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 6000 input tokens",
                &none,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", &none),
            ("the request exceeds the available context size, try increasing it", &none),
            ("The response was filtered due to the prompt triggering a content policy", &none),
            ("odd", &none),
        ] {
            assert_eq!(&refused_parts(message), expected, "{message}");
        }
    }

    #[test]
    fn a_learned_form_expires_and_one_request_tries_the_first_again() {
        let start = Instant::now();
        let passed = Arc::new(Mutex::new(Duration::ZERO));
        let clock = {
            let passed = Arc::clone(&passed);
            move || start + *passed.lock().unwrap()
        };
        let memory = FormMemory::new(Arc::new(clock));
        let forms = memory.of_model("http://one", "judge", true);
        let other = RequestForm { shape: 1, ..RequestForm::FIRST };
        forms.confirm(other);
        assert_eq!(memory.of_model("http://one", "judge", true).begin(), other, "it holds for the model");
        assert_eq!(memory.of_model("http://two", "judge", true).begin(), RequestForm::FIRST);
        *passed.lock().unwrap() = FORM_LIFETIME;
        assert_eq!(forms.begin(), RequestForm::FIRST, "one tries");
        assert_eq!(forms.begin(), other, "the others go on");
        forms.confirm(RequestForm::FIRST);
        assert_eq!(forms.begin(), RequestForm::FIRST);
    }
}
