//! Checks on SQL: whether a text is statements of a database, or has some in a code block, and what they name.
//!
//! The rules are promptfoo's: tables and columns are written `action::table::column`, and each that a statement names
//! must match one of the allowed patterns.

use std::collections::HashMap;
use std::ops::ControlFlow;

use regex::{Regex, RegexBuilder};
use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, Visit, Visitor,
};
use sqlparser::dialect::{
    BigQueryDialect, Dialect, GenericDialect, HiveDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect,
    RedshiftSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};

/// Makes the grammar of a database.
type MakeGrammar = fn() -> Box<dyn Dialect>;

/// Names of databases as promptfoo writes them, with the grammar that reads them.
const DATABASES: &[(&str, MakeGrammar)] = &[
    ("mysql", || Box::new(MySqlDialect {})),
    ("mariadb", || Box::new(MySqlDialect {})),
    ("postgresql", || Box::new(PostgreSqlDialect {})),
    ("sqlite", || Box::new(SQLiteDialect {})),
    ("bigquery", || Box::new(BigQueryDialect)),
    ("snowflake", || Box::new(SnowflakeDialect)),
    ("redshift", || Box::new(RedshiftSqlDialect {})),
    ("transactsql", || Box::new(MsSqlDialect {})),
    ("hive", || Box::new(HiveDialect {})),
    ("athena", || Box::new(HiveDialect {})),
    ("generic", || Box::new(GenericDialect {})),
];

/// Operators of a text. Each may make the tree of a statement one level deeper, and a tree is walked by recursion on
/// a stack of 2 MB.
const MAX_OPERATORS: usize = 150;
/// Levels of brackets and subqueries.
const MAX_DEPTH: usize = 25;
/// Longer texts are no single answer.
const MAX_BYTES: usize = 100_000;

pub(super) struct SqlCheck {
    /// In a code block, instead of all of the text.
    anywhere: bool,
    database: String,
    grammar: MakeGrammar,
    tables: Option<AllowedNames>,
    columns: Option<AllowedNames>,
}

impl std::fmt::Debug for SqlCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlCheck").field("database", &self.database).finish_non_exhaustive()
    }
}

/// What statements may name.
struct AllowedNames {
    patterns: Vec<Regex>,
}

/// Why a text is not what was asked for, or could not be read.
enum SqlProblem {
    Wrong(String),
    TooLarge(String),
}

pub(super) fn compile_sql_check(anywhere: bool, params: &Params<'_>) -> Result<SqlCheck, BadCheck> {
    let value = params.map("value")?.cloned().unwrap_or_default();
    let database = value.get("databaseType").and_then(serde_json::Value::as_str).unwrap_or("MySQL");
    let grammar = DATABASES.iter().find(|(name, _)| *name == database.to_lowercase());
    let Some((_, grammar)) = grammar else {
        let known: Vec<&str> = DATABASES.iter().map(|(name, _)| *name).collect();
        let why = format!("has the database `{database}`; understood: {}", known.join(", "));
        return Err(params.bad("value", why));
    };
    let allowed = |key: &str| -> Result<Option<AllowedNames>, BadCheck> {
        let Some(list) = value.get(key).and_then(serde_json::Value::as_array) else { return Ok(None) };
        let texts = list.iter().filter_map(serde_json::Value::as_str);
        // A column that is allowed of a table is allowed without it, where a statement does not say whose it is.
        let texts = texts.flat_map(|text| match text.split("::").collect::<Vec<_>>().as_slice() {
            [action, _, column] if key == "allowedColumns" => {
                vec![text.to_owned(), format!("{action}::null::{column}")]
            }
            _ => vec![text.to_owned()],
        });
        let patterns = texts.map(|text| {
            compile_name_pattern(&text)
                .map_err(|error| params.bad("value", format!("has `{text}` under `{key}`: {error}")))
        });
        Ok(Some(AllowedNames { patterns: patterns.collect::<Result<_, _>>()? }))
    };
    Ok(SqlCheck {
        anywhere,
        database: database.to_owned(),
        grammar: *grammar,
        tables: allowed("allowedTables")?,
        columns: allowed("allowedColumns")?,
    })
}

/// The whole name must match, whatever its case.
fn compile_name_pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&format!("^(?:{text})$")).case_insensitive(true).size_limit(1 << 20).build()
}

impl AllowedNames {
    fn find_other<'n>(&self, names: &'n [String]) -> Option<&'n String> {
        names.iter().find(|name| !self.patterns.iter().any(|pattern| pattern.is_match(name)))
    }
}

impl SqlCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let text = match subject.response() {
            Ok(output) => text_of_output(&output).into_owned(),
            Err(absent) => return absent,
        };
        let blocks = if self.anywhere { find_sql_blocks(&text) } else { Vec::new() };
        let candidates = if blocks.is_empty() { vec![text] } else { blocks };
        let mut reason = "no SQL is there".to_owned();
        for candidate in candidates.iter().filter(|text| !self.anywhere || !text.trim().is_empty()) {
            match self.verify(candidate) {
                Ok(()) => {
                    return CheckFinding::pass_or_fail(true, format!("SQL of {}", self.database));
                }
                Err(SqlProblem::Wrong(why)) => reason = why,
                Err(SqlProblem::TooLarge(why)) => return CheckFinding::from_failure(why),
            }
        }
        CheckFinding::pass_or_fail(false, reason)
    }

    fn verify(&self, text: &str) -> Result<(), SqlProblem> {
        let wrong = |why: String| SqlProblem::Wrong(format!("this is no SQL of {}: {why}", self.database));
        if MAX_BYTES < text.len() {
            return Err(SqlProblem::TooLarge(format!("SQL of more than {MAX_BYTES} bytes is not read")));
        }
        let grammar = (self.grammar)();
        let tokens =
            Tokenizer::new(grammar.as_ref(), text).tokenize().map_err(|error| wrong(error.to_string()))?;
        let n_operators = tokens.iter().filter(|token| is_operator(token)).count();
        if MAX_OPERATORS < n_operators {
            let why = format!("SQL with more than {MAX_OPERATORS} operators is not read");
            return Err(SqlProblem::TooLarge(why));
        }
        find_likely_mistake(&tokens, &self.database).map_or(Ok(()), |why| Err(wrong(why)))?;
        let parser = Parser::new(grammar.as_ref()).with_recursion_limit(MAX_DEPTH);
        let statements = parser.with_tokens(tokens).parse_statements();
        let statements = statements.map_err(|error| wrong(error.to_string()))?;
        if statements.is_empty() {
            return Err(wrong("there is no statement".to_owned()));
        }
        if self.tables.is_none() && self.columns.is_none() {
            return Ok(());
        }
        let names = collect_names(&statements);
        for (what, allowed, used) in
            [("table", &self.tables, &names.tables), ("column", &self.columns, &names.columns)]
        {
            if let Some(other) = allowed.as_ref().and_then(|allowed| allowed.find_other(used)) {
                return Err(SqlProblem::Wrong(format!("the {what} `{other}` is not allowed")));
            }
        }
        Ok(())
    }
}

fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::AND
                | Keyword::OR
                | Keyword::NOT
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::IN
                | Keyword::IS
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::BETWEEN
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::XOR
                | Keyword::DIV
        ),
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::Whitespace(_)
        | Token::Comma
        | Token::Period
        | Token::LParen
        | Token::RParen
        | Token::SemiColon => false,
        _ => true,
    }
}

/// Words that are allowed between `SELECT` and its first column.
const SELECT_MODIFIERS: [&str; 11] = [
    "all",
    "distinct",
    "distinctrow",
    "high_priority",
    "straight_join",
    "sql_big_result",
    "sql_buffer_result",
    "sql_cache",
    "sql_calc_found_rows",
    "sql_no_cache",
    "sql_small_result",
];

/// What parses, and is most likely meant otherwise: `SELECT a b FROM`, where a comma is missing.
fn find_likely_mistake(tokens: &[Token], database: &str) -> Option<String> {
    let is_mysql = ["mysql", "mariadb"].contains(&database.to_lowercase().as_str());
    let words: Vec<Option<String>> = tokens
        .iter()
        .filter(|token| !matches!(token, Token::Whitespace(_)))
        .map(|token| match token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
            Token::LParen => Some("(".to_owned()),
            _ => None,
        })
        .collect();
    let n_modifiers = if is_mysql { SELECT_MODIFIERS.len() } else { 2 };
    let modifiers = &SELECT_MODIFIERS[..n_modifiers];
    for (at, word) in words.iter().enumerate() {
        if is_mysql
            && word.as_deref() == Some("generate_series")
            && words.get(at + 1) == Some(&Some("(".to_owned()))
        {
            return Some("`generate_series` is not a function of it".to_owned());
        }
        if word.as_deref() != Some("select") {
            continue;
        }
        let mut rest = words[at + 1..]
            .iter()
            .map(Option::as_deref)
            .skip_while(|word| word.is_some_and(|word| modifiers.contains(&word)));
        let (first, second, third) = (rest.next().flatten(), rest.next().flatten(), rest.next().flatten());
        if let (Some(first), Some(second), Some("from")) = (first, second, third)
            && first != "("
            && second != "("
        {
            return Some(format!("between `{first}` and `{second}` a comma is missing"));
        }
    }
    None
}

/// What statements name, as `action::table::column` and `action::schema::table`.
#[derive(Default)]
struct NamesOfStatements {
    tables: Vec<String>,
    columns: Vec<String>,
}

fn collect_names(statements: &[Statement]) -> NamesOfStatements {
    let mut collector = NameCollector::default();
    for statement in statements {
        let _: ControlFlow<()> = statement.visit(&mut collector);
    }
    collector.find_real_names()
}

#[derive(Default)]
struct NameCollector {
    /// What is being done, from the statement down to the innermost query.
    actions: Vec<&'static str>,
    tables: Vec<(&'static str, Option<String>, String)>,
    columns: Vec<(&'static str, Option<String>, String)>,
    /// Other names of tables.
    aliases: HashMap<String, String>,
    /// Names that statements make themselves: of queries before them, and of columns.
    own_tables: Vec<String>,
    own_columns: Vec<String>,
}

impl NameCollector {
    fn action(&self) -> &'static str {
        self.actions.last().copied().unwrap_or("select")
    }

    fn add_column(&mut self, table: Option<&Ident>, column: &str) {
        let table = table.map(|ident| ident.value.clone());
        self.columns.push((self.action(), table, column.to_owned()));
    }

    fn add_assignments(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            let names = match &assignment.target {
                AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
                AssignmentTarget::Tuple(names) => names,
            };
            names.iter().for_each(|name| self.add_name(name));
        }
    }

    fn add_name(&mut self, name: &ObjectName) {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        if let [before @ .., column] = parts.as_slice() {
            self.add_column(before.last().copied(), &column.value);
        }
    }

    fn find_real_names(self) -> NamesOfStatements {
        let written = |action: &str, owner: Option<&str>, name: &str| {
            format!("{action}::{}::{name}", owner.unwrap_or("null"))
        };
        let is_real = |(_, schema, name): &&(&str, Option<String>, String)| {
            schema.is_some() || !self.own_tables.contains(name)
        };
        let tables = self.tables.iter().filter(is_real);
        let is_column = |(_, table, name): &&(&str, Option<String>, String)| {
            table.is_some() || !self.own_columns.contains(name)
        };
        NamesOfStatements {
            tables: tables.map(|(action, schema, name)| written(action, schema.as_deref(), name)).collect(),
            columns: self
                .columns
                .iter()
                .filter(is_column)
                .map(|(action, table, name)| {
                    let table = table.as_ref().map(|table| self.aliases.get(table).unwrap_or(table));
                    written(action, table.map(String::as_str), name)
                })
                .collect(),
        }
    }
}

impl Visitor for NameCollector {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.actions.push(match statement {
            Statement::Insert(insert) if insert.replace_into => "replace",
            Statement::Insert(_) => "insert",
            Statement::Update(_) => "update",
            Statement::Delete(_) => "delete",
            Statement::CreateTable(_) | Statement::CreateView(_) | Statement::CreateIndex(_) => "create",
            Statement::Drop { .. } => "drop",
            Statement::AlterTable(_) => "alter",
            Statement::Truncate(_) => "truncate",
            _ => "select",
        });
        match statement {
            Statement::Insert(insert) => {
                insert.columns.iter().for_each(|name| self.add_name(name));
                self.add_assignments(&insert.assignments);
            }
            Statement::Update(update) => self.add_assignments(&update.assignments),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_statement(&mut self, _: &Statement) -> ControlFlow<()> {
        self.actions.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        // The rows of an `INSERT` are a query without a table.
        let action = if matches!(*query.body, SetExpr::Values(_)) { self.action() } else { "select" };
        self.actions.push(action);
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.own_tables.extend(named.map(|named| named.alias.name.value.clone()));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.actions.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for item in &select.projection {
            match item {
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => self.add_column(None, "(.*)"),
                SelectItem::ExprWithAlias { alias, .. } => self.own_columns.push(alias.value.clone()),
                SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAliases { .. } => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: Some(alias), .. } = table
            && let Some(last) = name.0.last().and_then(|part| part.as_ident())
        {
            self.aliases.insert(alias.name.value.clone(), last.value.clone());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let parts: Vec<&Ident> = relation.0.iter().filter_map(|part| part.as_ident()).collect();
        if let [before @ .., name] = parts.as_slice() {
            let schema = before.last().map(|ident| ident.value.clone());
            self.tables.push((self.action(), schema, name.value.clone()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(column) => self.add_column(None, &column.value),
            Expr::CompoundIdentifier(parts) => {
                if let [.., table, column] = parts.as_slice() {
                    self.add_column(Some(table), &column.value);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Code blocks whose language is SQL or not given.
fn find_sql_blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open) = (Vec::new(), None::<(char, usize, bool, Vec<&str>)>);
    for line in text.lines() {
        let fence = read_fence(line);
        match (&mut open, fence) {
            (None, Some((letter, length, info))) => {
                let language = info.trim().to_lowercase();
                open = Some((letter, length, language.is_empty() || language == "sql", Vec::new()));
            }
            (None, None) => {}
            (Some((letter, length, is_sql, lines)), Some((other, n_letters, info)))
                if *letter == other && *length <= n_letters && info.trim().is_empty() =>
            {
                if *is_sql {
                    blocks.push(lines.join("\n").trim().to_owned());
                }
                open = None;
            }
            (Some((_, _, _, lines)), _) => lines.push(line),
        }
    }
    blocks
}

/// The letter of a fence, how many there are, and the text after them.
fn read_fence(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches([' ', '\t']);
    if 3 < line.len() - inner.len() {
        return None;
    }
    let letter = inner.chars().next().filter(|letter| ['`', '~'].contains(letter))?;
    let rest = inner.trim_start_matches(letter);
    let length = inner.len() - rest.len();
    (3 <= length).then_some((letter, length, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::check::{Check, CheckSubject};

    fn score(name: &str, value: &Value, output: &str) -> Option<f64> {
        let params = if value.is_null() { json!({}) } else { json!({ "value": value }) };
        let check = Check::new(name, &params).unwrap();
        check.run(&CheckSubject::from_outputs(&json!(output), None)).score
    }

    #[test]
    fn statements_of_a_database_are_told_from_other_text() {
        for (database, text, holds) in [
            ("MySQL", "SELECT id, name FROM users WHERE age > 3 ORDER BY name LIMIT 5;", true),
            ("MySQL", "SELECT COUNT(*) AS n FROM `order items` GROUP BY kind HAVING COUNT(*) > 1", true),
            ("MySQL", "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')", true),
            ("MySQL", "UPDATE t SET a = 1 WHERE b IN (SELECT b FROM u); DELETE FROM u", true),
            ("MySQL", "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)", true),
            ("MySQL", "SELECT DISTINCT name FROM users", true),
            ("MySQL", "SELECT name AS n FROM users", true),
            ("MySQL", "SELECT first_name last_name FROM users", false),
            ("MySQL", "SELECT * FORM users", false),
            ("MySQL", "SELECT `id FROM users", false),
            ("MySQL", "SELECT * FROM generate_series(1, 3)", false),
            ("PostgreSQL", "SELECT * FROM generate_series(1, 3)", true),
            ("PostgreSQL", "SELECT data->>'name' FROM t WHERE d > now() - INTERVAL '1 month'", true),
            ("SQLite", "WITH x AS (SELECT 1 AS a) SELECT a FROM x", true),
            ("TransactSQL", "SELECT TOP 3 [name] FROM [dbo].[users]", true),
            ("MySQL", "Here is the query: SELECT 1", false),
            ("MySQL", "", false),
            ("MySQL", "-- nothing but a remark", false),
        ] {
            let expected = Some(f64::from(u8::from(holds)));
            assert_eq!(
                score("is-sql", &json!({ "databaseType": database }), text),
                expected,
                "{database}: {text}"
            );
        }
        assert_eq!(score("is-sql", &Value::Null, "SELECT 1"), Some(1.0));
    }

    #[test]
    fn code_blocks_are_searched_for_sql() {
        for (text, holds) in [
            ("Try this:\n```sql\nSELECT 1\n```\n", true),
            ("```python\nprint(1)\n```\nand\n```\nSELECT a FROM t\n```", true),
            ("```python\nSELECT 1\n```", false),
            ("SELECT 1", true),
            ("Nothing of the kind.", false),
            ("```sql\n\n```", false),
        ] {
            assert_eq!(score("contains-sql", &Value::Null, text), Some(f64::from(u8::from(holds))), "{text}");
        }
    }

    #[test]
    fn only_allowed_tables_and_columns_may_be_named() {
        for (rules, text, holds) in [
            (json!({ "allowedTables": ["select::null::orders"] }), "SELECT id FROM Orders", true),
            (json!({ "allowedTables": ["select::null::orders"] }), "SELECT id FROM users", false),
            (json!({ "allowedTables": ["select::null::orders"] }), "DELETE FROM orders", false),
            (json!({ "allowedTables": ["(select|delete)::.*::orders"] }), "DELETE FROM shop.orders", true),
            (
                json!({ "allowedTables": ["select::null::a"] }),
                "WITH x AS (SELECT 1 FROM a) SELECT * FROM x JOIN a ON a.i = x.i",
                true,
            ),
            (
                json!({ "allowedTables": ["select::null::a"] }),
                "SELECT 1 FROM a WHERE i IN (SELECT i FROM b)",
                false,
            ),
            (json!({ "allowedColumns": ["select::null::id"] }), "SELECT id FROM users", true),
            (json!({ "allowedColumns": ["select::null::id"] }), "SELECT id FROM users WHERE age = 3", false),
            (json!({ "allowedColumns": ["select::users::id"] }), "SELECT u.id, id FROM users u", true),
            (json!({ "allowedColumns": ["select::null::id"] }), "SELECT * FROM users", false),
            (json!({ "allowedColumns": ["update::null::a"] }), "UPDATE t SET a = 1", true),
            (json!({ "allowedColumns": ["update::null::a"] }), "UPDATE t SET b = 1", false),
            (json!({ "allowedColumns": ["insert::null::a"] }), "INSERT INTO t (a, b) VALUES (1, 2)", false),
        ] {
            assert_eq!(score("is-sql", &rules, text), Some(f64::from(u8::from(holds))), "{rules}: {text}");
        }
    }

    #[test]
    fn hostile_sql_has_no_score_and_fits_the_stack() {
        let sum = |n: usize| format!("SELECT {}1", "1+".repeat(n));
        assert_eq!(score("is-sql", &Value::Null, &sum(super::MAX_OPERATORS - 1)), Some(1.0));
        assert_eq!(score("is-sql", &Value::Null, &sum(100_000)), None);
        assert_eq!(score("is-sql", &Value::Null, &format!("SELECT {}1", "(".repeat(20_000))), Some(0.0));
        let allowed = json!({ "allowedColumns": ["select::null::a"] });
        let long = format!("SELECT a FROM t WHERE {}a", "a OR ".repeat(super::MAX_OPERATORS - 1));
        assert_eq!(score("is-sql", &allowed, &long), Some(1.0));
        let cases = "SELECT CASE WHEN a THEN ".repeat(40);
        assert_eq!(score("is-sql", &Value::Null, &cases), Some(0.0));
    }

    #[test]
    fn databases_and_patterns_that_nobody_knows_are_refused() {
        for (value, word) in [
            (json!({ "databaseType": "Oracle 3" }), "understood: mysql"),
            (json!({ "allowedTables": ["("] }), "allowedTables"),
        ] {
            let error = Check::new("is-sql", &json!({ "value": value })).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
