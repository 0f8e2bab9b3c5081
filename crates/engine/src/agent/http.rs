//! An agent behind an address.

use std::convert::Infallible;
use std::time::Duration;

use jurist_core::candidate::Measurements;
use jurist_core::grade::Failure;
use jurist_core::suite::{OUTPUT_PREFIX, REFUSED_REQUEST_KEYS};
use jurist_core::template;
use serde_json::{Map, Value as Json, json};

use super::answer::read_answer;
use super::{AgentOutput, AgentRunError, truncate_text, with_environment};

const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_BYTES: usize = 64 << 20;

/// A request with placeholders for the prompt and the variables of the case, and the place of the answer in the
/// response.
pub(super) struct HttpTarget {
    pub(super) url: String,
    method: String,
    headers: Vec<(String, String)>,
    query: Vec<(String, String)>,
    body: Json,
    status_rule: Option<StatusRule>,
    answer: AnswerPlace,
}

/// Where the answer is in a response.
enum AnswerPlace {
    /// Where chat servers and programs have it.
    Usual,
    /// Such as `json.choices[0].message.content`.
    Path(String),
    /// Code that finds it, or `file://` with a script.
    Code(String),
}

/// A response with a status that the file accepts.
pub(super) struct HttpResponse {
    pub(super) text: String,
    pub(super) status: u16,
}

/// What a request is filled with.
#[derive(Clone, Copy)]
pub(super) struct RequestValues<'a> {
    pub(super) prompt: &'a str,
    pub(super) vars: &'a Map<String, Json>,
}

impl HttpTarget {
    pub(super) fn new(name: &str, url: String, config: &Map<String, Json>) -> Result<Self, String> {
        if let Some(key) =
            REFUSED_REQUEST_KEYS.iter().find(|key| config.get(**key).is_some_and(|value| !value.is_null()))
        {
            return Err(format!(
                "`config.{key}` of the target `{name}` is not supported; understood: url, method, headers, queryParams, body, validateStatus, transformResponse"
            ));
        }
        let text = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_str()).map(str::to_owned);
        let pairs = |key: &str| {
            let pairs = config.get(key).and_then(Json::as_object).into_iter().flatten();
            let pairs = pairs.filter(|(_, value)| !value.is_null());
            pairs.map(|(name, value)| (name.clone(), text_of(value))).collect::<Vec<(String, String)>>()
        };
        let status_rule = match config.get("validateStatus") {
            None | Some(Json::Null) => None,
            Some(rule) => Some(StatusRule::parse(&text_of(rule)).ok_or_else(|| {
                format!(
                    "`config.validateStatus` of the target `{name}` is not understood; write comparisons such as `status >= 200 && status < 500`"
                )
            })?),
        };
        let answer = match text(&["transformResponse", "transform_response", "responseParser"]) {
            None => AnswerPlace::Usual,
            Some(path) if is_path(&path) => AnswerPlace::Path(path),
            Some(code) => AnswerPlace::Code(code),
        };
        Ok(Self {
            url,
            method: text(&["method"]).unwrap_or_else(|| "POST".to_owned()).to_uppercase(),
            headers: pairs("headers"),
            query: pairs("queryParams"),
            body: config.get("body").map_or_else(|| json!({ "prompt": "{{prompt}}" }), read_body),
            status_rule,
            answer,
        })
    }

    /// The code that finds the answer.
    pub(super) fn answer_code(&self) -> Option<&str> {
        match &self.answer {
            AnswerPlace::Code(code) => Some(code),
            AnswerPlace::Usual | AnswerPlace::Path(_) => None,
        }
    }

    /// Why the first placeholder that cannot be filled in is none. Outputs of other cases are known when it is sent.
    pub(super) fn find_placeholder_problem(&self, values: RequestValues<'_>) -> Option<String> {
        let mut problem = None;
        let mut check = |text: &str| {
            template::replace(text, |placeholder| {
                problem = problem.take().or_else(|| values.find_problem(placeholder));
                None
            });
        };
        check(&self.url);
        for (_, value) in self.headers.iter().chain(&self.query) {
            check(value);
        }
        let mut body = self.body.clone();
        let Ok(()) = template::try_for_each_text(&mut body, &mut |text: &mut String| {
            check(text);
            Ok::<(), Infallible>(())
        });
        problem
    }

    /// The address with the variables of the case in it; those of the environment are filled in when it is sent.
    pub(super) fn fill_url(&self, url: &str, values: RequestValues<'_>) -> String {
        let (address, query) =
            url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
        // A variable may be the host or several parts of a path, so it is not encoded. The prompt is one part of a
        // path, and each value in a query is one value, so these are encoded.
        let in_address = |name: &str| {
            let value = values.find(name)?;
            Some(if name == "prompt" { percent_encode(&text_of(&value)) } else { text_of(&value) })
        };
        let in_query = |name: &str| values.find(name).map(|value| percent_encode(&text_of(&value)));
        let address = template::replace(address, in_address);
        match query {
            Some(query) => format!("{address}?{}", template::replace(query, in_query)),
            None => address,
        }
    }

    /// Whether something of the environment would be sent.
    pub(super) fn names_variables(&self) -> bool {
        let pairs = self.headers.iter().chain(&self.query);
        let mut texts = pairs.map(|(_, value)| value.as_str()).chain([self.url.as_str()]);
        texts.any(|text| text.contains("env.")) || self.body.to_string().contains("env.")
    }

    pub(super) async fn send(
        &self,
        client: &reqwest::Client,
        values: RequestValues<'_>,
    ) -> Result<HttpResponse, AgentRunError> {
        let method = self.method.parse::<reqwest::Method>();
        let method =
            method.map_err(|_| AgentRunError::unreachable(format!("`{}` is no method", self.method)))?;
        let url = self.build_url(values)?;
        let mut request = client.request(method.clone(), url).timeout(TIMEOUT);
        for (name, value) in &self.headers {
            request = request.header(name, values.fill(&with_environment(value)?));
        }
        if method != reqwest::Method::GET {
            request = match fill_body_template(&self.body, values)? {
                Json::String(text) => request.body(text),
                other => {
                    let has_type =
                        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
                    let request =
                        if has_type { request } else { request.header("content-type", "application/json") };
                    request.body(other.to_string())
                }
            };
        }
        let lost = |error: reqwest::Error| match error.is_timeout() {
            true => {
                AgentRunError::Failed(Failure::Timeout, format!("no answer within {} s", TIMEOUT.as_secs()))
            }
            false if error.is_connect() => {
                AgentRunError::unreachable(format!("{} cannot be reached", url_without_query(&self.url)))
            }
            false => AgentRunError::unavailable(format!(
                "{}: {}",
                url_without_query(&self.url),
                error.without_url()
            )),
        };
        let mut response = request.send().await.map_err(lost)?;
        let (status, mut bytes) = (response.status(), Vec::new());
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&chunk);
            if MAX_BYTES < bytes.len() {
                return Err(AgentRunError::unavailable("the answer has more than 64 MB"));
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let is_valid = match &self.status_rule {
            Some(rule) => rule.accepts(status.as_u16()),
            None => status.is_success(),
        };
        if !is_valid {
            let excerpt = truncate_text(text.trim(), 300);
            return Err(AgentRunError::unavailable(format!(
                "{} answered {status}: {excerpt}",
                url_without_query(&self.url)
            )));
        }
        Ok(HttpResponse { text: text.into_owned(), status: status.as_u16() })
    }

    /// The answer in a response, unless code has to find it.
    pub(super) fn read_response(&self, text: &str) -> Result<AgentOutput, AgentRunError> {
        match &self.answer {
            AnswerPlace::Path(path) => find_answer(text, path),
            AnswerPlace::Usual | AnswerPlace::Code(_) => read_usual_answer(text),
        }
    }

    fn build_url(&self, values: RequestValues<'_>) -> Result<String, AgentRunError> {
        let mut url = self.fill_url(&with_environment(&self.url)?, values);
        for (name, value) in &self.query {
            let value = values.fill(&with_environment(value)?);
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{}={}", percent_encode(name), percent_encode(&value)));
        }
        Ok(url)
    }
}

/// Reads the reply of a server that is compatible with OpenAI's chat completions, or else any other output.
fn read_usual_answer(text: &str) -> Result<AgentOutput, AgentRunError> {
    let body: Json = serde_json::from_str(text).unwrap_or_default();
    match body["choices"][0]["message"]["content"].as_str() {
        Some(content) => {
            let measurements = Measurements::from_json(&body);
            Ok(AgentOutput { response: Some(content.to_owned()), measurements, ..AgentOutput::default() })
        }
        None => read_answer(text),
    }
}

fn find_answer(text: &str, path: &str) -> Result<AgentOutput, AgentRunError> {
    let body = serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
    let part = find_response_value(&body, path)
        .ok_or_else(|| AgentRunError::unavailable(format!("the answer has nothing at `{path}`")))?;
    let value = (!part.is_string()).then(|| part.clone());
    Ok(AgentOutput { response: Some(text_of(part)), value, ..AgentOutput::default() })
}

impl RequestValues<'_> {
    /// The value of a placeholder: `prompt`, a variable or a part of one, perhaps as JSON by `| dump`.
    fn find(self, placeholder: &str) -> Option<Json> {
        if template::is_escape(placeholder) {
            return Some(Json::from("{{"));
        }
        let (name, filter) = split_filter(placeholder);
        let value = self.find_variable(name)?;
        match filter {
            None | Some("safe") => Some(value),
            Some("dump" | "tojson") => Some(Json::from(value.to_string())),
            Some("trim") => Some(Json::from(text_of(&value).trim())),
            Some("urlencode") => Some(Json::from(percent_encode(&text_of(&value)))),
            Some(_) => None,
        }
    }

    fn find_variable(self, name: &str) -> Option<Json> {
        if name == "prompt" {
            return Some(Json::from(self.prompt));
        }
        // The outputs of other cases are variables under their own names.
        if let Some(output) = name.strip_prefix(OUTPUT_PREFIX).and_then(|name| self.vars.get(name)) {
            return Some(output.clone());
        }
        let mut keys = name.strip_prefix("vars.").unwrap_or(name).split('.');
        let first = self.vars.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key)).cloned()
    }

    /// Why a placeholder cannot be filled in, if it cannot.
    fn find_problem(self, placeholder: &str) -> Option<String> {
        if is_of_environment(placeholder) || template::is_escape(placeholder) {
            return None;
        }
        let (name, filter) = split_filter(placeholder);
        let why = match filter.filter(|filter| !FILTERS.contains(filter)) {
            Some(filter) => format!("the filter `{filter}` is not known; known are {}", FILTERS.join(", ")),
            None if name.starts_with(OUTPUT_PREFIX) || self.find_variable(name).is_some() => return None,
            None if name.starts_with("row.") => {
                "a request has no fields of the row; use `{{ prompt }}`, and name the field in the prompt"
                    .to_owned()
            }
            None if self.vars.is_empty() => format!("the case has no variable `{name}`; it has prompt"),
            None => {
                let known: Vec<&str> = self.vars.keys().map(String::as_str).collect();
                format!("the case has no variable `{name}`; it has prompt, {}", known.join(", "))
            }
        };
        Some(format!("`{{{{ {placeholder} }}}}` in the request cannot be filled in: {why}"))
    }

    fn fill(self, text: &str) -> String {
        template::replace(text, |name| self.find(name).map(|value| text_of(&value)))
    }
}

/// What may follow a name in a placeholder.
const FILTERS: [&str; 5] = ["dump", "tojson", "safe", "trim", "urlencode"];

fn split_filter(placeholder: &str) -> (&str, Option<&str>) {
    match placeholder.split_once('|') {
        Some((name, filter)) => (name.trim(), Some(filter.trim())),
        None => (placeholder, None),
    }
}

fn is_of_environment(name: &str) -> bool {
    name.starts_with("env.")
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A body that is the text of a mapping or a list is filled as JSON, so that no value breaks it.
fn read_body(body: &Json) -> Json {
    let parsed = body.as_str().and_then(|text| serde_json::from_str::<Json>(text).ok());
    parsed.filter(|parsed| parsed.is_object() || parsed.is_array()).unwrap_or_else(|| body.clone())
}

/// Whether an expression is only a path into the answer, and no code.
fn is_path(expression: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.[]'\"$ ".contains(letter);
    !expression.starts_with("file://") && expression.chars().all(is_part) && !expression.trim().contains(' ')
}

/// The statuses that count as success, written as in promptfoo's `validateStatus`: comparisons with `&&` and `||`.
#[derive(Debug, PartialEq)]
struct StatusRule {
    /// One of these must hold, with all of its tests.
    alternatives: Vec<Vec<StatusTest>>,
}

#[derive(Debug, PartialEq)]
enum StatusTest {
    Always(bool),
    Compare { order: &'static str, code: u16 },
}

/// Longer signs first.
const ORDERS: [&str; 8] = ["===", "!==", "<=", ">=", "==", "!=", "<", ">"];

impl StatusRule {
    fn parse(expression: &str) -> Option<Self> {
        let expression = match expression.split_once("=>") {
            Some((head, body))
                if head.trim().trim_matches(['(', ')']).trim().chars().all(char::is_alphanumeric) =>
            {
                body
            }
            _ => expression,
        };
        let alternatives = expression
            .split("||")
            .map(|part| part.split("&&").map(StatusTest::parse).collect::<Option<Vec<StatusTest>>>());
        Some(Self { alternatives: alternatives.collect::<Option<_>>()? })
    }

    fn accepts(&self, status: u16) -> bool {
        self.alternatives.iter().any(|tests| tests.iter().all(|test| test.holds(status)))
    }
}

impl StatusTest {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(';').trim();
        match text {
            "true" => return Some(Self::Always(true)),
            "false" => return Some(Self::Always(false)),
            _ => {}
        }
        let order = *ORDERS.iter().find(|order| text.contains(**order))?;
        let (left, right) = text.split_once(order)?;
        let is_name = |text: &str| text.chars().all(char::is_alphabetic) && !text.is_empty();
        let (left, right) = (left.trim(), right.trim());
        match (left.parse::<u16>(), right.parse::<u16>()) {
            (_, Ok(code)) if is_name(left) => Some(Self::Compare { order, code }),
            (Ok(code), _) if is_name(right) => {
                // The number is on the left side, so the comparison is reversed.
                let order = match order {
                    "<" => ">",
                    ">" => "<",
                    "<=" => ">=",
                    ">=" => "<=",
                    same => same,
                };
                Some(Self::Compare { order, code })
            }
            _ => None,
        }
    }

    fn holds(&self, status: u16) -> bool {
        match *self {
            Self::Always(holds) => holds,
            Self::Compare { order: "<", code } => status < code,
            Self::Compare { order: ">", code } => code < status,
            Self::Compare { order: "<=", code } => status <= code,
            Self::Compare { order: ">=", code } => code <= status,
            Self::Compare { order: "!=" | "!==", code } => status != code,
            Self::Compare { code, .. } => status == code,
        }
    }
}

/// Without what may be a secret in it.
fn url_without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

fn percent_encode(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (byte as char).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

fn fill_body_template(body: &Json, values: RequestValues<'_>) -> Result<Json, AgentRunError> {
    Ok(match body {
        Json::String(text) => {
            let text = with_environment(text)?;
            // A variable that is not text keeps its type if it is the whole text.
            match lone_placeholder(&text).and_then(|name| Some((name, values.find(name)?))) {
                // A conversation that is the whole text is the list of its messages.
                Some(("prompt", value)) => read_messages(values.prompt).unwrap_or(value),
                Some((_, value)) => value,
                None => Json::String(values.fill(&text)),
            }
        }
        Json::Array(items) => {
            items.iter().map(|item| fill_body_template(item, values)).collect::<Result<_, _>>()?
        }
        Json::Object(map) => Json::Object(
            map.iter()
                .map(|(key, value)| Ok((key.clone(), fill_body_template(value, values)?)))
                .collect::<Result<_, AgentRunError>>()?,
        ),
        other => other.clone(),
    })
}

/// The messages of a prompt that is a JSON list of them.
fn read_messages(prompt: &str) -> Option<Json> {
    let is_list = prompt.trim_start().starts_with('[');
    let messages: Vec<Json> = is_list.then(|| serde_json::from_str(prompt).ok())??;
    let is_message = |message: &Json| message["role"].is_string() && message.get("content").is_some();
    (!messages.is_empty() && messages.iter().all(is_message)).then_some(Json::Array(messages))
}

/// The name in a text that is one placeholder and nothing else.
fn lone_placeholder(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!name.contains("{{") && !name.contains("}}")).then(|| name.trim())
}

/// `json.a.b[0]`, `data.x` or `a.b.0`.
fn find_response_value<'a>(value: &'a Json, path: &str) -> Option<&'a Json> {
    let path = path.trim().replace('[', ".").replace(']', "");
    let mut keys = path.split('.').filter(|part| !part.is_empty()).peekable();
    keys.next_if(|key| ["json", "text"].contains(key) && value.get(key).is_none());
    keys.try_fold(value, |value, key| {
        let key = key.trim_matches(['"', '\'']);
        value.get(key).or_else(|| value.get(key.parse::<usize>().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_where_the_file_says() {
        let body = json!({ "choices": [{ "message": { "content": "yes" } }], "json": 1 });
        assert_eq!(find_response_value(&body, "choices[0].message.content"), Some(&json!("yes")));
        assert_eq!(find_response_value(&body, "json"), Some(&json!(1)));
        assert_eq!(find_response_value(&json!({ "a": ["b"] }), "json.a[0]"), Some(&json!("b")));
        assert_eq!(find_response_value(&body, "choices[1].message"), None);
        assert!(is_path("json.choices[0].message['content']") && is_path("data.x"));
        for code in
            ["json.a.map(b => b.c)", "file://parse.js", "(json) => json.a", "json.a?.b", "text.trim()"]
        {
            assert!(!is_path(code), "{code}");
        }
    }

    #[test]
    fn values_are_put_in_their_places() {
        let Json::Object(vars) = json!({ "k": "a \"b\"&c", "n": 3, "user": { "id": 7 } }) else { panic!() };
        let values = RequestValues { prompt: "Why & how?", vars: &vars };
        let body =
            json!({ "q": "{{ prompt }}", "k": "<{{k}}>", "n": "{{ n }}", "id": "{{ user.id }}", "x": [1] });
        let filled = json!({ "q": "Why & how?", "k": "<a \"b\"&c>", "n": 3, "id": 7, "x": [1] });
        assert_eq!(fill_body_template(&body, values).unwrap(), filled);
        let text = read_body(&Json::from(r#"{"k": "{{k}}"}"#));
        assert_eq!(fill_body_template(&text, values).unwrap(), json!({ "k": "a \"b\"&c" }));
        let chat = RequestValues { prompt: r#"[{"role": "user", "content": "Why?"}]"#, vars: &vars };
        let filled = json!({ "messages": [{ "role": "user", "content": "Why?" }] });
        assert_eq!(fill_body_template(&json!({ "messages": "{{prompt}}" }), chat).unwrap(), filled);
        let raw = Json::from(r#"{"q": {{ prompt | dump }}, "k": {{ k | tojson }}}"#);
        let raw = fill_body_template(&read_body(&raw), values).unwrap();
        let raw: Json = serde_json::from_str(raw.as_str().unwrap()).unwrap();
        assert_eq!(raw, json!({ "q": "Why & how?", "k": "a \"b\"&c" }));

        let config = json!({ "queryParams": { "user": "{{ user.id }}", "q": "{{k}}" }, "headers": { "x": "{{ gone }}" } });
        let target =
            HttpTarget::new("t", "http://h/{{n}}/{{prompt}}?k={{k}}".to_owned(), config.as_object().unwrap());
        let target = target.unwrap();
        let url = target.build_url(values).unwrap();
        assert!(url.starts_with("http://h/3/Why%20%26%20how%3F?k=a%20%22b%22%26c&"), "{url}");
        assert!(url.contains("user=7") && url.contains("q=a%20%22b%22%26c"), "{url}");
        let problem = target.find_placeholder_problem(values).unwrap();
        assert!(
            problem.contains("`{{ gone }}`") && problem.contains("it has prompt, k, n, user"),
            "{problem}"
        );
    }

    #[test]
    fn a_placeholder_that_cannot_be_filled_in_is_explained() {
        let Json::Object(vars) = json!({ "k": "a" }) else { panic!() };
        let values = RequestValues { prompt: "Why?", vars: &vars };
        for (placeholder, why) in [
            (
                "k | upper",
                Some("the filter `upper` is not known; known are dump, tojson, safe, trim, urlencode"),
            ),
            ("row.x", Some("a request has no fields of the row")),
            ("x | dump", Some("the case has no variable `x`; it has prompt, k")),
            ("k | dump", None),
            ("env.X", None),
            ("outputs.first | trim", None),
        ] {
            let problem = values.find_problem(placeholder);
            assert_eq!(problem.is_some(), why.is_some(), "{placeholder}: {problem:?}");
            assert!(problem.unwrap_or_default().contains(why.unwrap_or_default()), "{placeholder}");
        }
        let Json::Object(vars) = json!({ "first": "Oslo" }) else { panic!() };
        let values = RequestValues { prompt: "Why?", vars: &vars };
        assert_eq!(values.fill("{{ outputs.first }}, {{ first }}"), "Oslo, Oslo");
    }

    #[test]
    fn statuses_are_compared_as_the_file_says() {
        for (rule, accepted, refused) in [
            ("status < 500", 404, 500),
            ("(status) => status >= 200 && status < 300", 204, 302),
            ("s => s === 200 || 500 <= s", 503, 404),
            ("() => true", 500, 0),
            ("status !== 404", 200, 404),
        ] {
            let parsed = StatusRule::parse(rule).unwrap_or_else(|| panic!("{rule}"));
            assert!(parsed.accepts(accepted), "{rule}");
            assert!(refused == 0 || !parsed.accepts(refused), "{rule}");
        }
        for rule in ["file://status.js", "status % 2", "[200].includes(status)", ""] {
            assert_eq!(StatusRule::parse(rule), None, "{rule}");
        }
        let refuse = |config: Json| {
            HttpTarget::new("t", "http://h".to_owned(), config.as_object().unwrap()).err().unwrap_or_default()
        };
        assert!(refuse(json!({ "validateStatus": "file://status.js" })).contains("config.validateStatus"));
        assert!(refuse(json!({ "transformRequest": "x" })).contains("config.transformRequest"));
    }
}
