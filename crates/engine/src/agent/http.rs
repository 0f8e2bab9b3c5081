//! An agent behind an address.

use std::time::Duration;

use jurist_core::candidate::Measurements;
use jurist_core::grade::Failure;
use serde_json::{Map, Value as Json, json};

use super::answer::read_answer;
use super::{AgentOutput, AgentRunError, truncate_text, with_environment};

const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_BYTES: usize = 64 << 20;

/// A request with `{{prompt}}` somewhere in it, and the place of the answer in the response.
pub(super) struct HttpTarget {
    pub(super) url: String,
    method: String,
    headers: Vec<(String, String)>,
    body: Json,
    /// Such as `json.choices[0].message.content`.
    path: Option<String>,
}

impl HttpTarget {
    pub(super) fn new(url: String, config: &Map<String, Json>) -> Self {
        let text = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_str()).map(str::to_owned);
        let headers = config.get("headers").and_then(Json::as_object).into_iter().flatten();
        Self {
            url,
            method: text(&["method"]).unwrap_or_else(|| "POST".to_owned()).to_uppercase(),
            headers: headers
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            body: config.get("body").cloned().unwrap_or_else(|| json!({ "prompt": "{{prompt}}" })),
            path: text(&["transformResponse", "transform_response", "responseParser"]),
        }
    }

    /// Whether something of the environment would be sent.
    pub(super) fn names_variables(&self) -> bool {
        let texts = self.headers.iter().map(|header| header.1.as_str()).chain([self.url.as_str()]);
        texts.into_iter().any(|text| text.contains("env.")) || self.body.to_string().contains("env.")
    }

    pub(super) async fn send(
        &self,
        client: &reqwest::Client,
        prompt: &str,
    ) -> Result<AgentOutput, AgentRunError> {
        let method = self.method.parse::<reqwest::Method>();
        let method =
            method.map_err(|_| AgentRunError::unreachable(format!("`{}` is no method", self.method)))?;
        let url = with_environment(&self.url)?.replace("{{prompt}}", &percent_encode(prompt));
        let mut request = client.request(method.clone(), url).timeout(TIMEOUT);
        for (name, value) in &self.headers {
            request = request.header(name, with_environment(value)?);
        }
        if method != reqwest::Method::GET {
            request = match fill_body_template(&self.body, prompt)? {
                Json::String(text) => request.body(text),
                other => request.header("content-type", "application/json").body(other.to_string()),
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
        if !status.is_success() {
            let said = truncate_text(text.trim(), 300);
            return Err(AgentRunError::unavailable(format!(
                "{} answered {status}: {said}",
                url_without_query(&self.url)
            )));
        }
        let Some(path) = &self.path else {
            // What a chat server says is known.
            let body: Json = serde_json::from_str(&text).unwrap_or_default();
            return match body["choices"][0]["message"]["content"].as_str() {
                Some(said) => {
                    let measurements = Measurements::from_json(&body);
                    Ok(AgentOutput {
                        response: Some(said.to_owned()),
                        measurements,
                        ..AgentOutput::default()
                    })
                }
                None => read_answer(&text),
            };
        };
        let body = serde_json::from_str(&text).unwrap_or(Json::String(text.into_owned()));
        let found = find_response_value(&body, path)
            .ok_or_else(|| AgentRunError::unavailable(format!("the answer has nothing at `{path}`")))?;
        let response = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        Ok(AgentOutput { response: Some(response), ..AgentOutput::default() })
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

fn fill_body_template(body: &Json, prompt: &str) -> Result<Json, AgentRunError> {
    Ok(match body {
        Json::String(text) => {
            let text = with_environment(text)?;
            Json::String(text.replace("{{prompt}}", prompt).replace("{{ prompt }}", prompt))
        }
        Json::Array(items) => {
            items.iter().map(|item| fill_body_template(item, prompt)).collect::<Result<_, _>>()?
        }
        Json::Object(map) => Json::Object(
            map.iter()
                .map(|(key, value)| Ok((key.clone(), fill_body_template(value, prompt)?)))
                .collect::<Result<_, AgentRunError>>()?,
        ),
        other => other.clone(),
    })
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
    }
}
