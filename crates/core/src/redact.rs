//! Takes keys and passwords out of texts that are kept.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};
use serde_json::Value;

/// What vendors' keys look like. Each has a mark that ordinary text does not have, and is decided after a few letters:
/// a shape that may be undecided to the end of a long text would be tried again after each key in it.
const SHAPES: [&str; 9] = [
    r"sk-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"hf_[A-Za-z0-9]{30,}",
    r"(?i:bearer)\s+[A-Za-z0-9._~+/=-]{20,}",
];

static KEYS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&SHAPES.join("|")).expect("the shapes are patterns, a test uses them"));

/// JSON Web Tokens, as headers have them. They are undecided until the second dot, so that they are looked for alone.
static WEB_TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?:(?i:bearer)\s+)?eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}";
    Regex::new(pattern).expect("the pattern is one, a test uses it")
});

static KEY_BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("-----BEGIN [A-Z ]*PRIVATE KEY-----").expect("the pattern is one, a test uses it")
});

static KEY_ENDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("-----END [A-Z ]*PRIVATE KEY-----").expect("the pattern is one, a test uses it")
});

/// The text without anything that looks like a key, wherever it is in a sentence.
///
/// ```
/// use jurist_core::redact::redact;
///
/// assert_eq!(redact("use sk-abcdefghijklmnop1234, then go"), "use [redacted], then go");
/// assert_eq!(redact("sky-high task-list"), "sky-high task-list");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let text = replace_pattern(redact_private_keys(text), &WEB_TOKENS, REDACTED);
    replace_pattern(replace_pattern(text, &KEYS, REDACTED), &PASSWORDS, AROUND)
}

fn replace_pattern<'a>(text: Cow<'a, str>, pattern: &Regex, with: &str) -> Cow<'a, str> {
    if let Cow::Owned(clean) = pattern.replace_all(&text, with) {
        return Cow::Owned(clean);
    }
    text
}

/// Takes out private keys in the PEM format. Where a first key does not end, none after it does, so that each byte is
/// read once.
fn redact_private_keys(text: &str) -> Cow<'_, str> {
    let (mut clean, mut rest) = (String::new(), text);
    while let Some(begin) = KEY_BEGINS.find(rest)
        && let Some(end) = KEY_ENDS.find_at(rest, begin.end())
    {
        clean.push_str(&rest[..begin.start()]);
        clean.push_str(REDACTED);
        rest = &rest[end.end()..];
    }
    if rest.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(clean + rest) }
}

/// The password in an address, `postgres://user:password@host`. One that was taken out has no letters left.
static PASSWORDS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#:@"'<>]*:)[^\s/?#@"'<>\[\]{}$]+@"#;
    Regex::new(pattern).expect("the pattern is one, a test uses it")
});

/// What stays of an address.
const AROUND: &str = "${1}[redacted]@";

/// What stays of an assignment.
const AFTER_NAME: &str = "${1}[redacted]";

/// The text that replaces a secret.
const REDACTED: &str = "[redacted]";

/// Shorter values of variables are ordinary words as often as not.
const LEAST_LENGTH: usize = 8;

/// Names of fields whose values are secret, wherever they are in a text.
const FIELD_NAME: &str = r"[\w-]*(?:(?:api[_-]?key|secret|passw(?:or)?d|private[_-]?key|credential|(?:access|auth|refresh|session|bearer)[_-]?token)s?|authorization)";

/// `"password": "…"` within a text, also where the text itself is quoted in another; and numbers under such a name.
static FIELDS: LazyLock<Regex> = LazyLock::new(|| {
    let plain = format!(r#"("{FIELD_NAME}"\s*:\s*")(?:[^"\\]|\\.)*"#);
    let quoted = format!(r#"(\\"{FIELD_NAME}\\"\s*:\s*\\")(?:[^"\\]|\\[^"])*"#);
    let number = format!(r#"("{FIELD_NAME}"\s*:\s*)-?[0-9][0-9.e+-]*"#);
    Regex::new(&format!("(?i)(?:{plain}|{quoted}|{number})")).expect("the pattern is one, a test uses it")
});

/// Where a list or an object under such a name begins.
static NESTED: LazyLock<Regex> = LazyLock::new(|| {
    let (plain, quoted) = (format!(r#""{FIELD_NAME}""#), format!(r#"\\"{FIELD_NAME}\\""#));
    Regex::new(&format!(r"(?i)(?:{quoted}|{plain})\s*:\s*[\[{{]"))
        .expect("the pattern is one, a test uses it")
});

/// `Authorization: Bearer …` as people write it, also where the text is shorter than a key. A reference such as
/// `$TOKEN` or `<token>` is no secret.
static HEADERS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r#"(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[^\s"'`,;<>(){}$\[\]\\]+"#;
    Regex::new(pattern).expect("the pattern is one, a test uses it")
});

/// `export API_KEY=…` as people and shells write it. A reference such as `$API_KEY` is no secret.
static ASSIGNMENTS: LazyLock<Regex> = LazyLock::new(|| {
    let exported = r"(?i:\b(?:export|set|setx)\s+\w*(?:key|token|secret|passw(?:or)?d|credentials?))\s*=\s*";
    let bare = r"\b[A-Z0-9_]*(?:API_?KEY|ACCESS_KEY|ACCESS_KEY_ID|SECRET_KEY|PRIVATE_KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS)=";
    let value = r#""[^"\n$\[\]]{4,}"|'[^'\n$\[\]]{4,}'|[^\s"'`;&|<>(){}$\[\]%,]{4,}"#;
    Regex::new(&format!("({exported}|{bare})(?:{value})")).expect("the pattern is one, a test uses it")
});

/// Endings of names of variables that hold a secret. A webhook's address is all that a sender needs.
const SECRET_ENDINGS: [&str; 10] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIALS",
    "ACCESS_KEY_ID",
    "WEBHOOK_URL",
    "_DSN",
    "_PAT",
];

/// Whether a variable of this name holds a secret. `PWD` is the current folder and `OLDPWD` the one before; with
/// anything else before it, as in `MYSQL_PWD`, it is a password.
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_password = name.ends_with("PWD") && !["PWD", "OLDPWD"].contains(&name.as_str());
    is_password || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a variable holds a secret, by its name or because its value is an address with a password. Many names that
/// end with `_URL` hold addresses that everybody may know.
pub fn is_secret_value(name: &str, value: &str) -> bool {
    is_secret_variable(name) || PASSWORDS.is_match(value)
}

/// Whether a field of this name does.
fn is_secret_field(name: &str) -> bool {
    let name: String =
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let parts = [
        "apikey",
        "secret",
        "password",
        "passwd",
        "privatekey",
        "credential",
        "authorization",
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "sessiontoken",
        "bearertoken",
    ];
    name == "token" || parts.iter().any(|part| name.contains(part))
}

/// Everything that must not be kept: keys by their shape, fields by their name, and what else is known.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Exact values, the longest first.
    values: Vec<String>,
    patterns: Vec<Regex>,
}

/// Parts of our own data that hold what came from outside: arguments of tools, rows of data and variables of a case.
const FROM_OUTSIDE: [&str; 3] = ["arguments", "row", "vars"];

impl Redactor {
    /// Values such as those of secret variables, and patterns that a project adds.
    pub fn new(values: impl IntoIterator<Item = String>, patterns: &[String]) -> Result<Self, regex::Error> {
        let mut values: Vec<String> =
            values.into_iter().filter(|value| LEAST_LENGTH <= value.len()).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let patterns = patterns.iter().map(|pattern| RegexBuilder::new(pattern).size_limit(1 << 20).build());
        Ok(Self { values, patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// ```
    /// use jurist_core::redact::Redactor;
    ///
    /// let redactor = Redactor::new(["hunter2hunter2".to_owned()], &["ACME-[0-9]+".to_owned()]).unwrap();
    /// assert_eq!(redactor.text("hunter2hunter2, ACME-77"), "[redacted], [redacted]");
    /// assert_eq!(redactor.text(r#"{"password": "x"}"#), r#"{"password": "[redacted]"}"#);
    /// ```
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = redact(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), REDACTED));
            }
        }
        for pattern in &self.patterns {
            if pattern.is_match(&text) {
                text = Cow::Owned(pattern.replace_all(&text, REDACTED).into_owned());
            }
        }
        if NESTED.is_match(&text) {
            text = Cow::Owned(redact_nested_fields(&text));
        }
        if HEADERS.is_match(&text) {
            text = Cow::Owned(HEADERS.replace_all(&text, AFTER_NAME).into_owned());
        }
        if FIELDS.is_match(&text) {
            let named = |captures: &Captures<'_>| match captures.get(3) {
                Some(name) => format!("{}\"{REDACTED}\"", name.as_str()),
                None => {
                    let name = captures.get(1).or_else(|| captures.get(2)).map_or("", |name| name.as_str());
                    format!("{name}{REDACTED}")
                }
            };
            text = Cow::Owned(FIELDS.replace_all(&text, named).into_owned());
        }
        if text.contains('=') && ASSIGNMENTS.is_match(&text) {
            text = Cow::Owned(ASSIGNMENTS.replace_all(&text, AFTER_NAME).into_owned());
        }
        text
    }

    /// What came from outside: every text in it, and every value under a name that says it is secret, be it a
    /// text, a number, a list or an object. Tells whether anything was.
    pub fn data(&self, value: &mut Value) -> bool {
        self.walk(value, true)
    }

    /// Our own data: every text in it, and texts under a name that says they are secret. Numbers stay, so that it can
    /// be read again: a score of a criterion `no-password` is no password. Parts that hold what came from outside are
    /// redacted as such.
    /// Tells whether anything was.
    pub fn json(&self, value: &mut Value) -> bool {
        self.walk(value, false)
    }

    fn walk(&self, value: &mut Value, is_foreign: bool) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Owned(clean) if clean != *text => {
                    *text = clean;
                    true
                }
                _ => false,
            },
            Value::Array(items) => {
                items
                    .iter_mut()
                    .map(|item| self.walk(item, is_foreign))
                    .filter(|is_redacted| *is_redacted)
                    .count()
                    != 0
            }
            // Attributes of OpenTelemetry are pairs of a key and a value.
            Value::Object(map) if map.get("key").and_then(Value::as_str).is_some_and(is_secret_field) => {
                map.get_mut("value").is_some_and(blank_attribute)
            }
            Value::Object(map) => map.iter_mut().fold(false, |any, (name, value)| {
                let is_secret = is_secret_field(name);
                let is_redacted = match value {
                    Value::String(_) if is_secret => blank(value),
                    Value::Number(_) | Value::Array(_) | Value::Object(_)
                        if is_secret && is_foreign && !is_schema(value) =>
                    {
                        blank(value)
                    }
                    _ => self.walk(value, is_foreign || FROM_OUTSIDE.contains(&name.as_str())),
                };
                is_redacted || any
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// Replaces lists and objects under secret names, with everything in them. Reads each byte once.
fn redact_nested_fields(text: &str) -> String {
    let (mut clean, mut end) = (String::with_capacity(text.len()), 0);
    while let Some(field) = NESTED.find_at(text, end) {
        let is_quoted = field.as_str().starts_with('\\');
        // The bracket is the last byte.
        let start = field.end() - 1;
        clean.push_str(&text[end..start]);
        end = find_value_end(text, start, is_quoted);
        let value = &text[start..end];
        let is_empty = value.trim_matches(['[', ']', '{', '}', ' ', '\t', '\r', '\n']).is_empty();
        if is_empty || is_schema_text(value, is_quoted) {
            clean.push_str(value);
        } else if is_quoted {
            clean.push_str(&format!("\\\"{REDACTED}\\\""));
        } else {
            clean.push_str(&format!("\"{REDACTED}\""));
        }
    }
    clean.push_str(&text[end..]);
    clean
}

/// How far the end of a list or object that does not begin as JSON is looked for. Names of secrets in a row may each
/// begin such a search.
const MAX_LOOSE_BYTES: usize = 512;

/// The end of the list or object that begins at `start`. JSON without an end was cut off, and takes the rest of the
/// text; in a text that is quoted in another, the rest of that. A bracket in prose takes the rest of its line at most, so
/// that what follows is read by judges and people.
fn find_value_end(text: &str, start: usize, is_quoted: bool) -> usize {
    if is_quoted || begins_as_json(&text[start + 1..]) {
        return find_closing_bracket(text.as_bytes(), start, is_quoted).unwrap_or(text.len());
    }
    let near = &text.as_bytes()[..text.len().min(start + MAX_LOOSE_BYTES)];
    let end_of_line = || text[start..].find('\n').map_or(text.len(), |length| start + length);
    find_closing_bracket(near, start, is_quoted).unwrap_or_else(end_of_line)
}

/// Whether what follows an opening bracket can be JSON, or is cut off there.
fn begins_as_json(text: &str) -> bool {
    let first = text.trim_start().bytes().next();
    first.is_none_or(|byte| byte.is_ascii_digit() || b"\"[]{}-".contains(&byte))
}

/// The place after the bracket that closes the one at `start`; of a text that is quoted in another, also the end of that.
fn find_closing_bracket(text: &[u8], start: usize, is_quoted: bool) -> Option<usize> {
    let (mut depth, mut in_string, mut n_backslashes) = (0_usize, false, 0_usize);
    for (at, &byte) in text.iter().enumerate().skip(start) {
        let n_before = std::mem::replace(&mut n_backslashes, 0);
        match byte {
            b'\\' => n_backslashes = n_before + 1,
            // `"` ends the outer text, `\"` a text in it, and `\\\"` is a quotation mark in the inner text.
            b'"' if is_quoted && n_before.is_multiple_of(2) => return Some(at - n_before),
            b'"' if is_quoted => in_string ^= n_before % 4 == 1,
            b'"' => in_string ^= n_before.is_multiple_of(2),
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The type of a field in the words of JSON Schema, also in a text that is quoted in another.
static FIELD_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\\?"type\\?"\s*:\s*(?:\[|\\?"(?:string|number|integer|boolean|array|object|null)\\?")"#;
    Regex::new(pattern).expect("the pattern is one, a test uses it")
});

/// Whether a text describes a field, such as a tool's parameter, instead of holding its value.
fn is_schema_text(value: &str, is_quoted: bool) -> bool {
    if is_quoted {
        return FIELD_TYPE.is_match(value);
    }
    let combines =
        |value: &Value| ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| !value[key].is_null());
    match serde_json::from_str(value) {
        Ok(value) => is_schema(&value) || combines(&value),
        Err(_) => FIELD_TYPE.is_match(value),
    }
}

/// Whether an object describes a field, as parameters of tools are described, instead of holding its value.
fn is_schema(value: &Value) -> bool {
    let types = ["string", "number", "integer", "boolean", "array", "object", "null"];
    match &value["type"] {
        Value::String(name) => types.contains(&name.as_str()),
        Value::Array(names) => {
            names.iter().all(|name| name.as_str().is_some_and(|name| types.contains(&name)))
        }
        _ => false,
    }
}

/// The value of an attribute, which must stay one of OpenTelemetry: `{"intValue": 7}` becomes a text.
fn blank_attribute(value: &mut Value) -> bool {
    let kinds = ["stringValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"];
    let is_attribute = value.as_object().is_some_and(|map| kinds.iter().any(|kind| map.contains_key(*kind)));
    if !is_attribute {
        return blank(value);
    }
    let redacted = serde_json::json!({ "stringValue": REDACTED });
    let is_secret = *value != redacted && value["stringValue"] != "";
    if is_secret {
        *value = redacted;
    }
    is_secret
}

/// Every text and number in a value; tells whether there was any.
fn blank(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.is_empty() || text == REDACTED => false,
        Value::String(_) | Value::Number(_) => {
            *value = REDACTED.into();
            true
        }
        Value::Array(items) => items.iter_mut().map(blank).filter(|is_blanked| *is_blanked).count() != 0,
        Value::Object(map) => map.values_mut().map(blank).filter(|is_blanked| *is_blanked).count() != 0,
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_secret_by_their_key() {
        let mut value = serde_json::json!([
            { "key": "db.password", "value": { "stringValue": "hunter2" } },
            { "key": "model", "value": { "stringValue": "gpt" } },
        ]);
        assert!(Redactor::default().json(&mut value));
        assert_eq!(value[0]["value"]["stringValue"], "[redacted]");
        assert_eq!(value[1]["value"]["stringValue"], "gpt");
        assert!(!Redactor::default().json(&mut value), "once is enough");
    }

    #[test]
    fn what_is_known_to_be_secret_is_taken_out_wherever_it_stands() {
        let redactor =
            Redactor::new(["correct horse".to_owned(), "short".to_owned()], &[r"\bID-\d+".to_owned()]);
        let redactor = redactor.unwrap();
        let mut value = serde_json::json!({
            "api_key": "abc", "tokens": 3, "token": "t", "max_tokens": "5", "key": "name",
            "steps": [{ "arguments": { "Authorization": "Basic x", "q": "correct horse, short, ID-77" } }],
            "text": "{\"db_password\": \"p\\\"w\", \"n\": 1} and {\\\"client_secret\\\": \\\"s\\\"}",
        });
        assert!(redactor.json(&mut value));
        assert_eq!(
            value,
            serde_json::json!({
                "api_key": "[redacted]", "tokens": 3, "token": "[redacted]", "max_tokens": "5", "key": "name",
                "steps": [{ "arguments": { "Authorization": "[redacted]", "q": "[redacted], short, [redacted]" } }],
                "text": value["text"],
            })
        );
        let text = value["text"].as_str().unwrap();
        assert_eq!(text, r#"{"db_password": "[redacted]", "n": 1} and {\"client_secret\": \"[redacted]\"}"#);
        assert!(!redactor.json(&mut value), "once is enough");
        assert!(Redactor::new([], &["(".to_owned()]).is_err());
    }

    #[test]
    fn lists_objects_and_numbers_under_secret_names_are_taken_out_of_what_comes_from_outside() {
        let redactor = Redactor::default();
        let outside = serde_json::json!({
            "password": 482913, "api_keys": ["abc", 7], "credentials": { "user": "ann", "pin": 1234, "on": true },
            "tokens": 12, "secret": null,
            "parameters": { "password": { "type": "string", "description": "of the account" } },
            "attributes": [
                { "key": "db.password", "value": { "intValue": "7" } },
                { "key": "secrets", "value": { "arrayValue": { "values": [{ "stringValue": "x" }] } } },
            ],
        });
        let mut value = outside.clone();
        assert!(redactor.data(&mut value));
        let redacted = serde_json::json!({ "stringValue": "[redacted]" });
        assert_eq!(
            value,
            serde_json::json!({
                "password": "[redacted]", "api_keys": ["[redacted]", "[redacted]"],
                "credentials": { "user": "[redacted]", "pin": "[redacted]", "on": true },
                "tokens": 12, "secret": null,
                "parameters": { "password": { "type": "string", "description": "of the account" } },
                "attributes": [
                    { "key": "db.password", "value": redacted }, { "key": "secrets", "value": redacted },
                ],
            })
        );
        assert!(!redactor.data(&mut value), "once is enough");
        let mut own = serde_json::json!({
            "scores": { "no-password": 0.5 }, "arguments": { "password": 482913 },
        });
        assert!(redactor.json(&mut own));
        let expected = serde_json::json!({
            "scores": { "no-password": 0.5 }, "arguments": { "password": "[redacted]" },
        });
        assert_eq!(own, expected, "a score of ours is no secret");
    }

    #[test]
    fn secrets_that_are_assigned_or_written_as_fields_are_taken_out_of_prose() {
        let redactor = Redactor::default();
        let check = |text: &str, expected: &str| {
            assert_eq!(redactor.text(text), expected);
            assert_eq!(redactor.text(expected), expected, "once is enough");
        };
        check("run `export API_KEY=abcd1234` first", "run `export API_KEY=[redacted]` first");
        check("export my_token = 'a b c d'; ls", "export my_token = [redacted]; ls");
        check("AWS_SECRET_ACCESS_KEY=wJalr/x+y aws s3 ls", "AWS_SECRET_ACCESS_KEY=[redacted] aws s3 ls");
        check(r#"docker run -e DB_PASSWORD="hunter2" x"#, "docker run -e DB_PASSWORD=[redacted] x");
        check(r#"{"password": 482913, "n": 1}"#, r#"{"password": "[redacted]", "n": 1}"#);
        check(r#"{"api_key": ["a", "b"]}"#, r#"{"api_key": "[redacted]"}"#);
        check(r#"{"credentials": {"user": "a"}}"#, r#"{"credentials": "[redacted]"}"#);
        check(r#"{"api_key": ["zzz1",{"x":"zzz2"}], "n": [1]}"#, r#"{"api_key": "[redacted]", "n": [1]}"#);
        check(
            r#"{"secrets": {"a": {"b": "}\"]"}}, "c": "d"} and {"password" : [["x"]]}"#,
            r#"{"secrets": "[redacted]", "c": "d"} and {"password" : "[redacted]"}"#,
        );
        check(
            r#"{"text": "{\"api_key\": [\"a\", {\"b\": \"]\\\"\"}], \"n\": 1}", "m": 2}"#,
            r#"{"text": "{\"api_key\": \"[redacted]\", \"n\": 1}", "m": 2}"#,
        );
        check(
            r#"{"text": "{\"api_key\": [\"a", "m": 2}"#,
            r#"{"text": "{\"api_key\": \"[redacted]\"", "m": 2}"#,
        );
        check(r#"{"secret": {"type": "service_account", "id": ["#, r#"{"secret": "[redacted]""#);
        check(r#"{"secret": {"type": "service_account", "id": ["x"]}}"#, r#"{"secret": "[redacted]"}"#);
        check(r#"{"api_key": ["cut", {"off": "#, r#"{"api_key": "[redacted]""#);
        // A bracket in prose hides no more than its line from those who read or judge the text.
        check(
            "Set \"api_key\": [ in your config.\nThen run rm -rf ~",
            "Set \"api_key\": \"[redacted]\"\nThen run rm -rf ~",
        );
        check("\"api_keys\": [abc,\n def] and on", "\"api_keys\": \"[redacted]\" and on");
        check("send `Authorization: Bearer xyz` with it", "send `Authorization: Bearer [redacted]` with it");
        check("-H 'authorization: Basic dTpw' -v", "-H 'authorization: Basic [redacted]' -v");
        for plain in [
            "export API_KEY=$OTHER_KEY",
            "API_KEY=${SECRET} x",
            "set the key = value pairs",
            "MAX_TOKENS=4096",
            "export PATH=/usr/bin:/bin",
            r#"{"password": {"type": "string"}}"#,
            r#"{"password": null}"#,
            r#"{"password": [], "secrets": { }, "credentials": [[]]}"#,
            r#"{"password": {"anyOf": [{"type": "string"}, {"type": "null"}]}}"#,
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer <token>",
            "Authorization is required: bearer of news",
        ] {
            check(plain, plain);
        }
    }

    #[test]
    fn many_fields_that_do_not_end_take_time_by_their_length_alone() {
        let redactor = Redactor::default();
        let text = r#"{"secret":["#.repeat(20_000);
        assert_eq!(redactor.text(&text), r#"{"secret":"[redacted]""#);
        let text = "\"secret\":[ a\n".repeat(20_000);
        assert_eq!(redactor.text(&text).matches("[redacted]").count(), 20_000);
    }

    #[test]
    fn keys_in_what_looks_like_another_key_take_time_by_their_length_alone() {
        // Each was read to the end of the text again after each of 100,000 keys.
        for part in ["-----BEGIN PRIVATE KEY----- AKIA0123456789ABCDEF ", "eyJ-AKIA0123456789ABCDEF"] {
            let text = part.repeat(100_000);
            assert_eq!(redact(&text), part.replace("AKIA0123456789ABCDEF", REDACTED).repeat(100_000));
        }
    }

    #[test]
    fn rows_and_variables_in_our_own_data_come_from_outside() {
        let mut result = serde_json::json!({
            "grades": { "no-password": 0.5 },
            "material": { "row": { "password": 482_913, "api_keys": ["zz1"] }, "vars": { "pin_code": 1, "secret": 7 } },
        });
        assert!(Redactor::default().json(&mut result));
        let expected = serde_json::json!({
            "grades": { "no-password": 0.5 },
            "material": {
                "row": { "password": REDACTED, "api_keys": [REDACTED] }, "vars": { "pin_code": 1, "secret": REDACTED },
            },
        });
        assert_eq!(result, expected);
    }

    #[test]
    fn variables_are_secret_by_their_name_or_by_a_password_in_their_address() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_PAT",
            "SENTRY_DSN",
            "MYSQL_PWD",
            "DB_PASSWD",
            "AWS_ACCESS_KEY_ID",
            "SLACK_WEBHOOK_URL",
            "my_token",
        ] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "PATH", "DATABASE_URL", "PATTERN", "DSN_NAME", "HOME"] {
            assert!(!is_secret_variable(name), "{name}");
        }
        assert!(is_secret_value("DATABASE_URL", "postgres://ann:hunter2@db/x"));
        assert!(!is_secret_value("DATABASE_URL", "postgres://db/x"));
        assert!(!is_secret_value("DOCS_URL", "https://example.org/a"));
    }

    #[test]
    fn passwords_in_addresses_are_taken_out() {
        let check = |text: &str, expected: &str| assert_eq!(redact(text), expected);
        check(
            "at postgres://ann:hunter2@db:5432/x?y, then",
            "at postgres://ann:[redacted]@db:5432/x?y, then",
        );
        check("redis://:p%40ss!word@cache", "redis://:[redacted]@cache");
        check("postgres://ann:[redacted]@db", "postgres://ann:[redacted]@db");
        check("postgres://ann:${PASSWORD}@db", "postgres://ann:${PASSWORD}@db");
        for plain in ["http://host:8000/a@b", "see https://x.org: mail me@x.org", "ssh://git@host", "a:b@c"] {
            check(plain, plain);
        }
    }

    #[test]
    fn keys_of_every_shape_are_taken_out() {
        let letters = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        for key in [
            format!("sk-ant-{letters}"),
            "AKIAABCDEFGHIJKLMNOP".to_owned(),
            format!("ghp_{letters}"),
            format!("github_pat_{letters}"),
            format!("glpat-{letters}"),
            format!("xoxb-{letters}"),
            format!("AIza{}", &letters[..35]),
            format!("hf_{letters}"),
            format!("eyJ{letters}.eyJ{letters}.{letters}"),
            format!("Bearer {letters}"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{letters}\n-----END RSA PRIVATE KEY-----"),
        ] {
            let text = format!("before \"{key}\" after");
            assert_eq!(redact(&text), "before \"[redacted]\" after", "{key}");
        }
    }
}
