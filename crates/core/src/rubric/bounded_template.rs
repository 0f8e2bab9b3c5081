//! An author's prompt as a template that cannot take more memory or time than its limits allow.
//!
//! Rubrics arrive with repositories and requests, so their authors may be strangers. minijinja counts steps, but a
//! single step may allocate any number of bytes (`indent(10 ** 14)`, `a ~ a` forty times), constants are multiplied
//! while a template is compiled, and a long chain of operators overflows the stack. Hence:
//!
//! - a tag has few tokens, so that no tree of operators is deep, and `*` is refused before anything is compiled;
//! - only the filters of [`FILTERS`] exist, and lists, captured blocks and calls are refused, so that values grow by
//!   filters, `~` and `+` only;
//! - each of these pays for the bytes that it will make before it makes them, from one allowance per rendering;
//! - the number of steps falls as the texts get longer, so that steps times bytes, hence time, is bounded as well.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use minijinja::machinery::{
    CodeGenerator, Instruction, Instructions, Token, eval, make_string_output, parse, tokenize,
};
use minijinja::value::{Rest, Serde, Value, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter};
use serde::Serialize as _;
use serde_json::Value as Json;

use crate::javascript_text::{MAPPING_TEXT, javascript_number_text};

/// The longest prompt of an author.
pub const MAX_PROMPT_BYTES: usize = 256 << 10;

/// Tokens between the braces of one tag. The parser needs about 1 kB of stack for each in a debug build, and
/// threads have 2 MB.
const MAX_TAG_TOKENS: usize = 200;

/// Each `elif` is nested in the one before it.
const MAX_ELIFS: usize = 100;

/// What every prompt may make, in addition to four times what it was given.
const FREE_BYTES: usize = 256 << 10;

/// Steps times bytes: under a second, whatever the steps are.
const MAX_WORK: usize = 1 << 30;

/// Bytes of the template's own text that loops may repeat.
const MAX_RAW_BYTES: usize = 64 << 20;

/// A prompt that fills in a hundred values takes 300 steps.
const MIN_STEPS: usize = 500;

/// What a list takes for each of its items, in addition to the item's own text.
const ITEM_BYTES: usize = 32;

/// Filters that a prompt may use.
const FILTERS: [&str; 35] = [
    "abs",
    "bool",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "dump",
    "e",
    "escape",
    "first",
    "float",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "load",
    "lower",
    "max",
    "min",
    "replace",
    "reverse",
    "round",
    "safe",
    "sort",
    "split",
    "string",
    "title",
    "trim",
    "unique",
    "upper",
];

/// minijinja's own filters, which ours call after they have paid.
static BUILTINS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
});

/// Filters of Nunjucks that take a missing value, null and false for an empty text.
const NUNJUCKS_TEXT_FILTERS: [&str; 14] = [
    "capitalize",
    "count",
    "e",
    "escape",
    "first",
    "indent",
    "join",
    "last",
    "length",
    "lower",
    "replace",
    "title",
    "trim",
    "upper",
];

/// The most spaces that `dump` indents by, as in JavaScript.
const MAX_DUMP_INDENT: usize = 10;

/// How values become text, and what a missing value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateStyle {
    /// A missing value is an error.
    Jinja,
    /// Values become text as in JavaScript, and a missing value is empty.
    Nunjucks,
}

/// Renders a prompt, or says why it cannot be rendered.
pub fn render_prompt(template: &str, values: &Json) -> Result<String, String> {
    render_in_style(template, values, TemplateStyle::Jinja)
}

/// Renders a prompt as Nunjucks does, or says why it cannot be rendered.
pub(crate) fn render_nunjucks_prompt(template: &str, values: &Json) -> Result<String, String> {
    render_in_style(template, values, TemplateStyle::Nunjucks)
}

fn render_in_style(template: &str, values: &Json, style: TemplateStyle) -> Result<String, String> {
    let instructions = compile_template(template)?;
    let max_bytes = FREE_BYTES + 4 * (template.len() + count_bytes(values));
    let allowance = Arc::new(Allowance { max_bytes, left: AtomicUsize::new(max_bytes) });
    let mut environment = bounded_environment(&allowance, style);
    environment.set_fuel(Some(max_steps(&instructions, max_bytes) as u64));
    let (mut text, no_blocks) = (String::new(), BTreeMap::new());
    let rendered = eval(
        &environment,
        &instructions,
        Value::from(Serde(values)),
        &no_blocks,
        &mut make_string_output(&mut text),
        AutoEscape::None,
    );
    match rendered {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::OutOfFuel => {
            let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
            Err(format!("it takes too many steps{line}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The names that a template takes from its values, or why it cannot be rendered.
pub fn undeclared_names(template: &str) -> Result<Vec<String>, String> {
    // The parser is not safe for what this refuses.
    compile_template(template)?;
    let environment = Environment::new();
    let parsed = environment.template_from_str(template);
    let names = parsed.map(|parsed| parsed.undeclared_variables(false).into_iter().collect());
    Ok(names.unwrap_or_default())
}

/// The steps of a template, with every one that makes text replaced by one that pays for it.
fn compile_template(template: &str) -> Result<Instructions<'_>, String> {
    if MAX_PROMPT_BYTES < template.len() {
        return Err(format!(
            "the prompt has {} bytes, and at most {MAX_PROMPT_BYTES} are allowed",
            template.len()
        ));
    }
    check_tokens(template)?;
    let tree =
        parse(template, "prompt", Default::default()).map_err(|error| describe_syntax_error(&error))?;
    let mut generator = CodeGenerator::new("prompt", template);
    generator.compile_stmt(&tree);
    let (mut instructions, _) = generator.finish();
    for at in 0.. {
        let line = instructions.get_line(at).unwrap_or(1);
        let Some(instruction) = instructions.get_mut(at) else { break };
        bound_instruction(instruction).map_err(|what| format!("the prompt {what}, in line {line}"))?;
    }
    Ok(instructions)
}

fn describe_syntax_error(error: &Error) -> String {
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    format!("the prompt is not a template{line}: {}", error.detail().unwrap_or("syntax error"))
}

/// Refuses what must not reach the parser or the compiler.
fn check_tokens(template: &str) -> Result<(), String> {
    let (mut n_tokens, mut n_elifs) = (0, 0);
    for token in tokenize(template, false, Default::default()) {
        let (token, span) = token.map_err(|error| describe_syntax_error(&error))?;
        let refuse = |what: &str| Err(format!("the prompt {what}, in line {}", span.start_line));
        n_tokens += 1;
        match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => n_tokens = 0,
            Token::Mul | Token::Pow => return refuse("may not multiply with `*`"),
            Token::Ident("elif") => n_elifs += 1,
            _ => {}
        }
        if MAX_TAG_TOKENS < n_tokens {
            return refuse(&format!("has a tag of more than {MAX_TAG_TOKENS} words and signs"));
        }
        if MAX_ELIFS < n_elifs {
            return refuse(&format!("has more than {MAX_ELIFS} `elif`"));
        }
    }
    Ok(())
}

/// Makes an instruction pay for what it makes, or says why it is refused.
fn bound_instruction(instruction: &mut Instruction<'_>) -> Result<(), String> {
    match instruction {
        Instruction::StringConcat => *instruction = Instruction::CallFunction("~", Some(2)),
        Instruction::Add => *instruction = Instruction::CallFunction("+", Some(2)),
        Instruction::Slice => *instruction = Instruction::CallFunction("[:]", Some(4)),
        Instruction::ApplyFilter(name, ..) if !FILTERS.contains(name) => {
            return Err(format!("uses the filter `{name}`; it may use {}", FILTERS.join(", ")));
        }
        Instruction::BuildList(Some(_)) | Instruction::BuildTuple(_) | Instruction::BuildMap(_) => {
            return Err("may not make lists or mappings of values".to_owned());
        }
        Instruction::BeginCapture(_) => {
            return Err("may not set a block or filter one; write `{% set name = value %}`".to_owned());
        }
        Instruction::CallFunction(name, _) => return Err(format!("may not call `{name}`")),
        Instruction::CallObject(_) | Instruction::FastRecurse => {
            return Err("may not call anything".to_owned());
        }
        Instruction::UnpackLists(_) | Instruction::MergeKwargs(_) => {
            return Err("may not unpack arguments".to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// How many steps a rendering may take.
fn max_steps(instructions: &Instructions<'_>, max_bytes: usize) -> usize {
    let raw_bytes = (0..).map_while(|at| instructions.get(at)).map(|instruction| match instruction {
        Instruction::EmitRaw(text) => text.len(),
        _ => 0,
    });
    let longest_raw = raw_bytes.max().unwrap_or(0).max(1);
    (MAX_WORK / max_bytes).min(MAX_RAW_BYTES / longest_raw).max(MIN_STEPS)
}

/// The bytes that one rendering may still make.
struct Allowance {
    max_bytes: usize,
    left: AtomicUsize,
}

impl Allowance {
    fn spend(&self, bytes: usize) -> Result<(), Error> {
        let left = self.left.load(Ordering::Relaxed);
        match left.checked_sub(bytes) {
            Some(left) => self.left.store(left, Ordering::Relaxed),
            None => {
                let message = format!("the prompt makes more than {} bytes of text", self.max_bytes);
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }
}

fn bounded_environment(allowance: &Arc<Allowance>, style: TemplateStyle) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(match style {
        TemplateStyle::Jinja => UndefinedBehavior::Strict,
        TemplateStyle::Nunjucks => UndefinedBehavior::Chainable,
    });
    let emit = Arc::clone(allowance);
    environment.set_formatter(move |out, state, value| {
        emit.spend(value_bytes(value))?;
        match style {
            TemplateStyle::Jinja => escape_formatter(out, state, value),
            TemplateStyle::Nunjucks => out.write_str(&nunjucks_text(value)).map_err(Error::from),
        }
    });
    for name in FILTERS {
        let allowance = Arc::clone(allowance);
        environment.add_filter(name, move |arguments: Rest<ValueOrKwargs>| {
            let mut arguments = arguments.into_values();
            allowance.spend(filter_bytes(name, &arguments))?;
            if style == TemplateStyle::Nunjucks {
                convert_nunjucks_arguments(name, &mut arguments);
            }
            match (name, arguments.as_slice()) {
                ("dump", [value, ..]) if style == TemplateStyle::Nunjucks && value.is_undefined() => {
                    Ok(Value::from(""))
                }
                ("dump", [value, indent, ..]) if indent.as_usize().is_some() => {
                    dump_value_indented(value, indent.as_usize().unwrap_or(0))
                }
                ("dump", [value, ..]) => dump_value(value),
                ("string", [value]) if style == TemplateStyle::Nunjucks => {
                    Ok(Value::from(nunjucks_text(value)))
                }
                ("load", [value]) => load_value(value),
                _ => BUILTINS.empty_state().apply_filter(name, &arguments),
            }
        });
    }
    let join = Arc::clone(allowance);
    environment.add_function("~", move |left: Value, right: Value| {
        if style == TemplateStyle::Jinja {
            require_defined(&[&left, &right])?;
        }
        join.spend(value_bytes(&left).saturating_add(value_bytes(&right)))?;
        Ok(match style {
            TemplateStyle::Jinja => Value::from(format!("{left}{right}")),
            TemplateStyle::Nunjucks => Value::from(joined_text(&left) + &joined_text(&right)),
        })
    });
    let sum = Arc::clone(allowance);
    environment.add_function("+", move |left: Value, right: Value| match style {
        TemplateStyle::Nunjucks if is_joined_by_plus(&left) || is_joined_by_plus(&right) => {
            sum.spend(value_bytes(&left).saturating_add(value_bytes(&right)))?;
            Ok(Value::from(joined_text(&left) + &joined_text(&right)))
        }
        _ => add_values(&sum, &left, &right),
    });
    let cut = Arc::clone(allowance);
    environment.add_function("[:]", move |text: Value, start: Value, stop: Value, step: Value| {
        slice_text(&cut, &text, [&start, &stop, &step])
    });
    environment
}

fn require_defined(values: &[&Value]) -> Result<(), Error> {
    match values.iter().any(|value| value.is_undefined()) {
        true => Err(Error::from(ErrorKind::UndefinedError)),
        false => Ok(()),
    }
}

fn add_values(allowance: &Allowance, left: &Value, right: &Value) -> Result<Value, Error> {
    require_defined(&[left, right])?;
    if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        allowance.spend(left.len() + right.len())?;
        return Ok(Value::from([left, right].concat()));
    }
    let wrong = || {
        let message =
            format!("`+` joins two texts or adds two numbers, not {} and {}", left.kind(), right.kind());
        Error::new(ErrorKind::InvalidOperation, message)
    };
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) if left.checked_add(right).is_some() => Ok(Value::from(left + right)),
        _ if left.is_number() && right.is_number() => {
            let as_number = |value: &Value| f64::try_from(value.clone());
            Ok(Value::from(as_number(left)? + as_number(right)?))
        }
        _ => Err(wrong()),
    }
}

/// `text[start:stop]` by characters; negative places count from the end.
fn slice_text(allowance: &Allowance, text: &Value, [start, stop, step]: [&Value; 3]) -> Result<Value, Error> {
    let wrong = |message: &str| Error::new(ErrorKind::InvalidOperation, message.to_owned());
    let text = text.as_str().ok_or_else(|| wrong("only a text can be cut with `[start:stop]`"))?;
    if !step.is_none() {
        return Err(wrong("a text is cut with `[start:stop]`, without a third place"));
    }
    allowance.spend(text.len())?;
    let n_chars = text.chars().count();
    let place = |value: &Value, default: usize| match value.as_i64() {
        _ if value.is_none() => Ok(default),
        None => Err(wrong("places in `[start:stop]` are whole numbers")),
        Some(at) if at < 0 => Ok(n_chars.saturating_sub(at.unsigned_abs() as usize)),
        Some(at) => Ok((at as usize).min(n_chars)),
    };
    let (start, stop) = (place(start, 0)?, place(stop, n_chars)?);
    Ok(Value::from(text.chars().skip(start).take(stop.saturating_sub(start)).collect::<String>()))
}

/// A value as Nunjucks prints it.
fn nunjucks_text(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => match (value.as_i64(), f64::try_from(value.clone())) {
            (Some(whole), _) if whole.unsigned_abs() <= 1 << 53 => whole.to_string(),
            (_, Ok(number)) => javascript_number_text(number),
            (_, Err(_)) => value.to_string(),
        },
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter().into_iter().flatten();
            items.map(|item| nunjucks_text(&item)).collect::<Vec<_>>().join(",")
        }
        ValueKind::Map => MAPPING_TEXT.to_owned(),
        _ => value.to_string(),
    }
}

/// A value next to `~` or `+`, where JavaScript also writes null and missing values.
fn joined_text(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined => "undefined".to_owned(),
        ValueKind::None => "null".to_owned(),
        _ => nunjucks_text(value),
    }
}

/// Whether `+` joins texts if this is on one of its sides.
fn is_joined_by_plus(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Iterable | ValueKind::Map)
}

/// Replaces values by what the filters of Nunjucks take them for.
fn convert_nunjucks_arguments(name: &str, arguments: &mut [Value]) {
    let Some(first) = arguments.first_mut() else { return };
    let is_empty =
        first.is_undefined() || first.is_none() || first.kind() == ValueKind::Bool && !first.is_true();
    if is_empty && NUNJUCKS_TEXT_FILTERS.contains(&name) {
        *first = Value::from("");
    }
    if name == "join" && first.as_str().is_none() {
        let items = first.try_iter().into_iter().flatten();
        *first = items.map(|item| Value::from(nunjucks_text(&item))).collect();
    }
}

/// A value as JSON on several lines.
fn dump_value_indented(value: &Value, indent: usize) -> Result<Value, Error> {
    require_defined(&[value])?;
    let spaces = " ".repeat(indent.min(MAX_DUMP_INDENT));
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter));
    written.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    Ok(Value::from(String::from_utf8_lossy(&text).into_owned()))
}

/// A value as JSON.
fn dump_value(value: &Value) -> Result<Value, Error> {
    require_defined(&[value])?;
    let text = serde_json::to_string(value);
    text.map(Value::from).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// What a text holds as JSON.
fn load_value(value: &Value) -> Result<Value, Error> {
    let parsed = serde_json::from_str::<Json>(value.as_str().unwrap_or_default());
    parsed
        .map(|parsed| Value::from(Serde(&parsed)))
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("`load` reads JSON: {error}")))
}

/// At most how many bytes a filter makes, up to a small factor for escapes and letters that grow.
fn filter_bytes(name: &str, arguments: &[Value]) -> usize {
    let text = |at: usize| arguments.get(at).and_then(Value::as_str);
    let n_argument_bytes =
        arguments.iter().fold(0, |sum: usize, value| sum.saturating_add(value_bytes(value)));
    let n_items = |n: usize| n.saturating_add(1).saturating_mul(ITEM_BYTES);
    let made = match (name, text(0)) {
        ("replace", Some(whole)) => match (text(1), text(2)) {
            (Some(""), Some(by)) => by.len().saturating_mul(whole.chars().count() + 1),
            (Some(from), Some(by)) => by.len().saturating_mul(whole.matches(from).count()),
            _ => 0,
        },
        ("indent", Some(whole)) => largest_number(arguments).saturating_mul(whole.lines().count() + 1),
        ("list" | "sort" | "reverse" | "unique", Some(whole)) => n_items(whole.len()),
        ("lines", Some(whole)) => n_items(whole.lines().count()),
        ("split", Some(whole)) => match text(1) {
            Some("") => n_items(whole.len()),
            Some(separator) => n_items(whole.matches(separator).count()),
            None => n_items(whole.split_whitespace().count()),
        },
        // An escaped letter takes six; an item at the greatest depth is indented by 128 times ten spaces.
        ("dump", _) => n_argument_bytes.saturating_mul(if arguments.len() < 2 { 5 } else { 45 }),
        ("load", Some(whole)) => n_items(whole.matches([',', ':']).count()),
        ("join", _) => {
            let n = arguments.first().and_then(Value::len).unwrap_or(0);
            text(1).map_or(0, str::len).saturating_mul(n)
        }
        _ => 0,
    };
    n_argument_bytes.saturating_add(made)
}

/// The largest number among arguments, named ones included.
fn largest_number(arguments: &[Value]) -> usize {
    let named = |value: &Value| match value.is_kwargs() {
        true => value.try_iter().into_iter().flatten().filter_map(|key| value.get_item(&key).ok()).collect(),
        false => vec![value.clone()],
    };
    arguments.iter().flat_map(named).filter_map(|value| value.as_usize()).max().unwrap_or(0)
}

/// About how many bytes a value takes, and at most how many it takes to write it down.
fn value_bytes(value: &Value) -> usize {
    if let Some(text) = value.as_str() {
        return text.len();
    }
    let items = match value.kind() {
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => value.try_iter().into_iter().flatten(),
        _ => return ITEM_BYTES,
    };
    items.fold(ITEM_BYTES, |sum, item| {
        let inner = match value.kind() {
            ValueKind::Map => value.get_item(&item).map_or(0, |inner| value_bytes(&inner)),
            _ => 0,
        };
        sum.saturating_add(ITEM_BYTES + value_bytes(&item)).saturating_add(inner)
    })
}

fn count_bytes(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| ITEM_BYTES + count_bytes(item)).sum(),
        Json::Object(map) => map.iter().map(|(key, item)| ITEM_BYTES + key.len() + count_bytes(item)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => ITEM_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(template: &str) -> Result<String, String> {
        render_prompt(
            template,
            &json!({ "output": "a\nb\nc", "row": { "a": "1", "b": "2" }, "long": "x".repeat(100_000) }),
        )
    }

    #[test]
    fn a_prompt_of_a_stranger_cannot_grow_without_end() {
        let doubling = format!("{{% set a = output %}}{}", "{% set a = a ~ a %}".repeat(60));
        let adding = format!("{{% set a = output %}}{}", "{% set a = a + a %}".repeat(60));
        let replacing = format!("{{% set a = long %}}{}", "{% set a = a|replace('x', a) %}".repeat(9));
        let copying: String = (0..9_000).map(|n| format!("{{% set a{n} = long[1:] %}}")).collect();
        let escaping =
            format!("{{% set a = '&' ~ long %}}{}", "{% set a = a|string|escape|string %}".repeat(900));
        let raw = format!(
            "{{% for a in long %}}{{% for b in long %}}{}{{% endfor %}}{{% endfor %}}",
            "r".repeat(200_000)
        );
        let nested = "{% for a in long %}".repeat(20) + &"{% endfor %}".repeat(20);
        for (template, says) in [
            ("{{ output|indent(100000000000000) }}", "bytes of text"),
            ("{{ output|indent(width=100000000000000) }}", "bytes of text"),
            ("{{ '%99999999999d'|format(1) }}", "the filter `format`"),
            ("{{ [1]|batch(99999999999, 'x') }}", "the filter `batch`"),
            ("{{ [1]|slice(99999999999, 'x') }}", "the filter `slice`"),
            ("{{ output|pprint }}", "the filter `pprint`"),
            ("{{ 'aaaaaaaa' * 100000000 }}", "multiply"),
            ("{{ 10 ** 30 }}", "multiply"),
            ("{% set a = [output, output] %}", "lists"),
            ("{% set a %}{{ output }}{% endset %}", "set a block"),
            ("{% filter upper %}{{ output }}{% endfilter %}", "filter one"),
            ("{{ range(100000)|join('xxxxxxxxxxxxxxxxxx') }}", "call `range`"),
            ("{{ long|list|join(long) }}", "bytes of text"),
            ("{{ long|replace('', long) }}", "bytes of text"),
            (&doubling, "bytes of text"),
            (&adding, "bytes of text"),
            (&replacing, "bytes of text"),
            (&copying, "bytes of text"),
            (&escaping, "bytes of text"),
            (&raw, "too many steps"),
            (&nested, "too many steps"),
        ] {
            let excerpt: String = template.chars().take(60).collect();
            let why = render(template).expect_err(&excerpt);
            assert!(why.contains(says), "{excerpt}: {why}");
        }
    }

    #[test]
    fn a_long_chain_is_refused_before_it_is_parsed() {
        for link in ["~ output", "|upper", ".a", " and output", "()", " if output", " is defined"] {
            let why = render(&format!("{{{{ output{} }}}}", link.repeat(20_000))).expect_err(link);
            assert!(why.contains("200 words and signs"), "{link}: {why}");
        }
        for sign in ["-", "not "] {
            let why = render(&format!("{{{{ {}output }}}}", sign.repeat(20_000))).expect_err(sign);
            assert!(why.contains("200 words and signs"), "{sign}: {why}");
        }
        let elifs = format!("{{% if row %}}{}{{% endif %}}", "{% elif row %}".repeat(5_000));
        assert!(render(&elifs).expect_err("elif").contains("100 `elif`"));
        // What is allowed fits into the stack of a thread.
        let most = format!("{{{{ output{} }}}}", "|upper".repeat(98));
        assert_eq!(render(&most).as_deref(), Ok("A\nB\nC"));
        let elifs =
            format!("{{% if not row %}}{}{{% else %}}x{{% endif %}}", "{% elif not row %}".repeat(100));
        assert_eq!(render(&elifs).as_deref(), Ok("x"));
    }

    #[test]
    fn what_honest_prompts_use_works() {
        for (template, expected) in [
            ("{{ output }}", "a\nb\nc"),
            ("{{ 'x' ~ row.a ~ 1 }}{{ 'y' + row.b }}{{ 1 + 2 }}{{ 1.5 + 1 }}", "x11y232.5"),
            ("{{ output|indent(2) }}", "a\n  b\n  c"),
            ("{{ output|replace('b', 'BB')|upper }}", "A\nBB\nC"),
            ("{{ row.none|default('nothing') }}", "nothing"),
            ("{{ output[:3] }}|{{ output[-1:] }}|{{ output[9:] }}", "a\nb|c|"),
            (
                "{% for key, value in row|items %}{{ loop.index + 1 }}{{ key }}={{ value }};{% endfor %}",
                "2a=1;3b=2;",
            ),
            ("{% for line in output|lines if line != 'b' %}{{ line }}{% endfor %}", "ac"),
            (
                "{% if 'b' in output and row.a in ['1', '2'] %}yes{% elif row %}row{% else %}no{% endif %}",
                "yes",
            ),
            (
                "{{ output|split('\\n')|join(', ') }} {{ output|length }} {{ row }}",
                "a, b, c 5 {'a': '1', 'b': '2'}",
            ),
            ("{% set a = output|trim %}{{ a|first }}{% raw %}{{ x }}{% endraw %}", "a{{ x }}"),
        ] {
            assert_eq!(render(template).as_deref(), Ok(expected), "{template}");
        }
        let many = "Some text of the author. {{ output }} ".repeat(150);
        assert_eq!(render(&many).unwrap().matches("author").count(), 150);
        for (template, says) in [
            ("{{ row.none }}", "undefined"),
            ("{{ row.none ~ 'a' }}", "undefined"),
            ("{{ 1 + 'a' }}", "adds two"),
        ] {
            assert!(
                render(template).expect_err(template).contains(says),
                "{template}: {:?}",
                render(template)
            );
        }
    }

    #[test]
    fn values_are_printed_as_nunjucks_prints_them() {
        let values = json!({
            "t": "ab", "n": 3, "f": 1.5, "l": [1, 2.0, 3], "o": { "k": "v", "n": [1, 2] }, "b": true, "z": null,
            "big": 1e21, "nest": [[1, 2], [3, [4]], null, true], "mix": [1, null, { "a": 1 }], "no": [],
        });
        for (template, expected) in [
            (
                "{{ n }} {{ f }} {{ l }} {{ o }} {{ b }} {{ z }} {{ big }}",
                "3 1.5 1,2,3 [object Object] true  1e+21",
            ),
            (
                "{{ nest }}|{{ mix }}|{{ no }}|{{ missing }}|{{ o.gone.deeper }}",
                "1,2,3,4,,true|1,,[object Object]|||",
            ),
            (
                "{{ l|join('-') }} {{ mix|join(' ') }} {{ l|length }} {{ f|string }} {{ f|round }}",
                "1-2-3 1  [object Object] 3 1.5 2",
            ),
            ("{{ n ~ l }} {{ t ~ b }} {{ t ~ z }} {{ t ~ gone }}", "31,2,3 abtrue abnull abundefined"),
            ("{{ n + 1 }} {{ t + n }} {{ not b }} {{ l[0] }}", "4 ab3 false 1"),
            ("{{ o|dump }} {{ z|dump }} {{ gone|dump }}", r#"{"k":"v","n":[1,2]} null "#),
            ("{{ o|dump(2) }}", "{\n  \"k\": \"v\",\n  \"n\": [\n    1,\n    2\n  ]\n}"),
            (
                "{{ z|default('x') }}|{{ gone|default('x') }}|{{ gone|upper }}|{{ z|upper }}|{{ gone|length }}",
                "|x|||0",
            ),
            ("{% for i in l %}[{{ i }}]{% endfor %}{% for i in gone %}x{% endfor %}", "[1][2][3]"),
        ] {
            assert_eq!(render_nunjucks_prompt(template, &values).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn a_long_candidate_fits() {
        let values = json!({ "output": "word ".repeat(2_000_000) });
        let text = render_prompt("Grade this.\n{{ output|trim }}\n{{ output }}", &values);
        assert!(20_000_000 < text.unwrap().len());
    }
}
