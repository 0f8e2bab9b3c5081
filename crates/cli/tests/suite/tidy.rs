//! The rules of the code base: which module may use which, and where each thing is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn metadata() -> Json {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Which packages each package needs to be built, by name.
fn dependencies(metadata: &Json) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeMap<&str, &str> = packages
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let is_normal =
        |dep: &Json| dep["dep_kinds"].as_array().unwrap().iter().any(|item| item["kind"].is_null());
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    nodes
        .iter()
        .map(|node| {
            let deps = node["deps"].as_array().unwrap().iter().filter(|item| is_normal(item));
            let deps = deps.map(|dep| names[dep["pkg"].as_str().unwrap()].to_owned()).collect();
            (names[node["id"].as_str().unwrap()].to_owned(), deps)
        })
        .collect()
}

/// A file without its test modules. Other items that only tests compile, such as a field, stay: what follows them is
/// product code.
fn strip_test_modules(text: &str) -> String {
    let mut parts = text.split("#[cfg(test)]\n");
    let mut product = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let item = part.lines().find(|line| !line.starts_with("#[")).unwrap_or_default();
        let is_module = item.ends_with(" {") && item.split(' ').any(|word| word == "mod");
        // In a formatted file, the first bracket at the beginning of a line is the end of the module.
        product += match is_module {
            true => part.split_once("\n}\n").map_or("", |(_, after)| after),
            false => part,
        };
    }
    product
}

/// Rust files of the product, with their path from the root; tests and benches are left out.
fn sources() -> Vec<(String, String)> {
    fn visit(folder: &Path, root: &Path, all: &mut Vec<(String, String)>) {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|dir| dir.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                visit(&path, root, all);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && path.file_name().is_some_and(|name| name != "tests.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                if !text.contains("#![cfg(test)]\n") {
                    let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                    all.push((name, strip_test_modules(&text)));
                }
            }
        }
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        visit(&entry.unwrap().path().join("src"), &root(), &mut all);
    }
    assert!(10 < all.len());
    all
}

#[test]
fn only_test_modules_are_left_out_of_the_product() {
    let text = "mod a;\n#[cfg(test)]\nmod tests;\n\nstruct B {\n    #[cfg(test)]\n    c: u32,\n}\n\n\
                #[cfg(test)]\n#[allow(x)]\npub(super) mod d {\n    fn e() {\n    }\n}\n\nfn f() {}\n\n\
                #[cfg(test)]\nmod g {\n}\n";
    let product = strip_test_modules(text);
    for kept in ["mod a;", "struct B", "c: u32", "fn f()"] {
        assert!(product.contains(kept), "{kept}: {product}");
    }
    assert!(!product.contains("fn e()") && !product.contains("mod g"), "{product}");
}

#[test]
fn crates_know_only_those_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = [
        ("jurist-core", &[][..]),
        ("jurist-engine", &["jurist-core"]),
        ("jurist-store", &["jurist-core"]),
        ("jurist-server", &["jurist-core", "jurist-engine", "jurist-store"]),
        ("jurist", &["jurist-core", "jurist-engine", "jurist-server", "jurist-store"]),
        ("jurist-python", &["jurist", "jurist-core", "jurist-engine"]),
        ("jurist-fuzz-targets", &["jurist-core", "jurist-server", "jurist-store"]),
    ]
    .into();
    let dependencies = dependencies(&metadata());
    let ours: Vec<&String> = dependencies.keys().filter(|key| key.starts_with("jurist")).collect();
    for name in ours {
        let allowed =
            allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no place in the house yet"));
        for dependency in dependencies[name].iter().filter(|dependency| dependency.starts_with("jurist")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not know {dependency}");
        }
    }
}

#[test]
fn core_reaches_no_runtime_network_database_clock_or_chance() {
    let banned = [
        "tokio",
        "async-std",
        "smol",
        "futures-executor",
        "reqwest",
        "hyper",
        "ureq",
        "curl",
        "rusqlite",
        "sqlx",
        "diesel",
        "tokio-postgres",
        "chrono",
        "time",
        "jiff",
        "rand",
    ];
    let mut dependencies = dependencies(&metadata());
    // The MCP SDK switches on schemars' support for chrono's types, for the whole workspace; core itself neither asks
    // for it nor can name it, and schemars only describes those types.
    if let Some(schemars) = dependencies.get_mut("schemars") {
        schemars.remove("chrono");
    }
    let (mut reached, mut to_visit) = (BTreeSet::new(), vec!["jurist-core".to_owned()]);
    while let Some(name) = to_visit.pop() {
        to_visit.extend(
            dependencies[&name].iter().filter(|dependency| reached.insert((*dependency).clone())).cloned(),
        );
    }
    for name in banned {
        assert!(!reached.contains(name), "core reaches {name}");
    }
    let words = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "SystemTime",
        "Instant::now",
        "async fn",
        "tokio",
    ];
    for (path, text) in sources().iter().filter(|source| source.0.starts_with("crates/core/")) {
        for word in words {
            assert!(!code_of(text).contains(word), "{path} says {word}");
        }
    }
}

/// A file without its comments, where examples may show anything.
fn code_of(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_of_core_use_only_what_stands_above_them() {
    for (folder, root_file, prefix) in
        [("crates/core/src/", "lib.rs", "crate::"), ("crates/core/src/stats/", "mod.rs", "crate::stats::")]
    {
        let list = fs::read_to_string(root().join(folder).join(root_file)).unwrap();
        let order: Vec<&str> =
            list.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
        assert!(5 < order.len());
        for (path, text) in sources() {
            let Some(inside) = path.strip_prefix(folder) else { continue };
            let module = inside.split(['/', '.']).next().unwrap();
            let Some(place) = order.iter().position(|order| *order == module) else { continue };
            for below in &order[place + 1..] {
                let named = [format!("{prefix}{below}::"), format!("{prefix}{{{below}")];
                assert!(
                    !named.iter().any(|named| code_of(&text).contains(named)),
                    "{path} uses `{below}`, which stands below `{module}`"
                );
            }
        }
    }
}

/// The names that follow `crate::` in a file: one, or the first of each path between braces.
fn names_from_root(code: &str) -> Vec<&str> {
    let name_length =
        |path: &str| path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.push(&rest[..name_length(rest)]);
            continue;
        };
        let (mut depth, mut begins) = (1, true);
        for (at, letter) in list.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => begins = true,
                _ if begins && !letter.is_whitespace() => {
                    names.push(&list[at..at + name_length(&list[at..])]);
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// For each top-level module of a crate, the other ones that its files use. An item that the root exports counts as its
/// module's.
fn used_modules(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = format!("crates/{name}/src/");
    let modules = top_level_modules(&root().join(&folder));
    // Helpers of tests use everything, and what they measure asks them back.
    let is_product = |module: &str| modules.contains(module) && !["testing", "simulation"].contains(&module);
    let lib = fs::read_to_string(root().join(&folder).join("lib.rs")).unwrap();
    let mut exported: BTreeMap<&str, &str> = BTreeMap::new();
    for export in lib.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let Some((module, items)) = export.split_once("::") else { continue };
        let items = items.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|item| !item.is_empty());
        exported.extend(items.map(|item| (item, module)));
    }
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let Some(inside) = path.strip_prefix(&folder) else { continue };
        let module = inside.split(['/', '.']).next().unwrap();
        if !is_product(module) {
            continue;
        }
        let code = code_of(&text);
        let names = names_from_root(&code).into_iter();
        let targets = names.filter_map(|name| match modules.contains(name) {
            true => Some(name),
            false => exported.get(name).copied(),
        });
        let targets = targets.filter(|target| is_product(target) && *target != module);
        used.entry(module.to_owned()).or_default().extend(targets.map(str::to_owned));
    }
    used
}

/// The modules that can be reached from one.
fn reachable_modules<'a>(from: &'a str, used: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (mut reached, mut to_visit) = (BTreeSet::new(), vec![from]);
    while let Some(module) = to_visit.pop() {
        let next = used.get(module).into_iter().flatten().map(String::as_str);
        to_visit.extend(next.filter(|next| reached.insert(*next)));
    }
    reached
}

/// Modules that use each other cannot be understood, tested or moved one at a time.
#[test]
fn modules_of_no_crate_use_each_other_in_a_circle() {
    for name in ["core", "engine", "store", "server", "cli", "python"] {
        let used = used_modules(name);
        let circles: BTreeSet<BTreeSet<&str>> = used
            .keys()
            .map(|module| {
                let reached = reachable_modules(module, &used).into_iter();
                let is_back = |other: &&str| reachable_modules(other, &used).contains(module.as_str());
                reached.filter(is_back).collect::<BTreeSet<&str>>()
            })
            .filter(|circle| !circle.is_empty())
            .collect();
        assert!(circles.is_empty(), "crates/{name}: {circles:#?}");
    }
    let names = names_from_root("use crate::{a::{b, c}, D, e}; crate::f::g(crate::H); use crate::i;");
    assert_eq!(names, ["a", "D", "e", "f", "H", "i"]);
}

#[test]
fn each_thing_has_one_place() {
    // What is looked for, what it is, and where alone it may stand.
    let places: [(&[&str], &str, &[&str]); 6] = [
        (&["ExitCode", "process::exit"], "exit codes", &["crates/cli/src/main.rs"]),
        (&["StatusCode"], "HTTP status codes", &["crates/server/src/error.rs"]),
        (&["SELECT ", "INSERT INTO ", "CREATE TABLE "], "SQL", &["crates/store/"]),
        (&["anyhow"], "errors without a type", &["crates/cli/src/"]),
        (&["saphyr_parser"], "the YAML parser", &["crates/core/src/syntax/yaml.rs"]),
        (
            &["std::env::"],
            "the environment",
            &[
                // Arguments are no settings.
                "crates/cli/src/main.rs",
                "crates/engine/src/environment.rs",
                "crates/engine/src/load.rs",
            ],
        ),
    ];
    for (path, text) in sources() {
        for (words, what, allowed) in &places {
            let found = words.iter().any(|word| code_of(&text).contains(word));
            assert!(
                !found || allowed.iter().any(|allowed| path.starts_with(allowed)),
                "{path}: {what} belong in {allowed:?}"
            );
        }
    }
}

/// Files of the product without the helpers of its tests.
fn product_sources() -> impl Iterator<Item = (String, String)> {
    let is_for_tests =
        |path: &str| path.contains("/testing/") || path.ends_with("/testing.rs") || path.contains("/tests/");
    sources().into_iter().filter(move |(path, _)| !is_for_tests(path))
}

/// The keyword and the name that an item begins with, visibility and qualifiers left out.
fn declared_item(line: &str) -> Option<(&str, &str)> {
    let mut words = line
        .split(' ')
        .skip_while(|word| word.starts_with("pub") || ["async", "const", "unsafe", "extern"].contains(word));
    let keyword = words.next()?;
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (["struct", "enum", "trait", "type", "union", "fn"].contains(&keyword) && !name.is_empty())
        .then_some((keyword, name))
}

/// Search, documentation, stack traces and the description of the API show names without their path.
#[test]
fn types_and_free_functions_have_names_of_their_own() {
    let mut seen: BTreeMap<(bool, String), String> = BTreeMap::new();
    let mut shared = Vec::new();
    for (path, text) in product_sources() {
        let mut before = "";
        for line in text.lines() {
            if let Some((keyword, name)) = declared_item(line) {
                // Two variants of one function, of which a build has one: in one file, or in one for each system.
                let is_in_platform = |path: &str| path.contains("/platform/");
                let is_variant = |other: &str| match is_in_platform(&path) {
                    true => is_in_platform(other),
                    false => before.starts_with("#[cfg(") && other == path,
                };
                let other = seen.insert((keyword == "fn", name.to_owned()), path.clone());
                if let Some(other) = other.filter(|other| !is_variant(other)) {
                    shared.push(format!("`{name}` in {other} and in {path}"));
                }
            }
            before = line;
        }
    }
    assert!(3000 < seen.len(), "it finds them: {}", seen.len());
    assert!(shared.is_empty(), "{shared:#?}");
}

/// `settled` says neither what is done nor to what; `settle_reservation` does.
#[test]
fn no_function_is_named_by_a_participle_alone() {
    const IRREGULAR: &[&str] = &[
        "told",
        "kept",
        "found",
        "held",
        "made",
        "known",
        "given",
        "sent",
        "said",
        "shown",
        "written",
        "taken",
        "drawn",
        "seen",
        "lost",
        "met",
        "left",
        "begun",
        "done",
        "gone",
        "heard",
        "meant",
        "paid",
        "understood",
        "built",
        "asked",
        "spent",
        "bound",
        "thrown",
        "chosen",
        "hidden",
        "withheld",
    ];
    const NOUNS: &[&str] = &["need", "seed", "feed", "speed"];
    for (path, text) in product_sources() {
        for declared in code_of(&text).split(" fn ").skip(1) {
            let name = declared.split(['(', '<']).next().unwrap_or_default();
            let is_participle = name.len() > 4 && name.ends_with("ed") && !NOUNS.contains(&name);
            let is_bare = !name.contains('_') && (is_participle || IRREGULAR.contains(&name));
            assert!(!is_bare, "{path}: `{name}` names no action; a function is a verb phrase");
        }
    }
}

/// A clash of two types is a sign that one of them has the wrong name.
#[test]
fn own_types_are_imported_under_their_own_names() {
    for (path, text) in product_sources() {
        for import in text.split("\nuse ").skip(1).filter_map(|rest| rest.split(';').next()) {
            let is_own = ["jurist_", "crate", "super", "self"].iter().any(|root| import.starts_with(root));
            for (real, alias) in
                import.split(['{', ',', '}']).filter_map(|item| item.trim().split_once(" as "))
            {
                let is_type =
                    |name: &str| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
                let real = real.rsplit("::").next().unwrap_or(real);
                assert!(!(is_own && is_type(real) && is_type(alias)), "{path}: `{real} as {alias}`");
            }
        }
    }
}

/// How often `it` and tuple fields stand for what has a name. Both numbers may only fall.
#[test]
fn values_have_names() {
    const MOST_IT: f64 = 13.0;
    const MOST_TUPLE_FIELDS: f64 = 1.8;
    let (mut n_lines, mut n_it, mut n_tuple_fields) = (0.0, 0.0, 0.0);
    for (_, text) in product_sources() {
        let code: String = code_of(&text).split('"').step_by(2).collect();
        n_lines += text.lines().filter(|line| !line.trim().is_empty()).count() as f64;
        n_it += code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == "it").count()
            as f64;
        let fields = code.split('.').zip(code.split('.').skip(1)).filter(|(before, after)| {
            let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            let mut rest = after.chars();
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && rest.next().is_some_and(|c| c.is_ascii_digit())
                && !rest.next().is_some_and(|c| c.is_alphanumeric() || c == '_')
        });
        n_tuple_fields += fields.count() as f64;
    }
    let (it, tuple_fields) = (1000.0 * n_it / n_lines, 1000.0 * n_tuple_fields / n_lines);
    assert!(it <= MOST_IT, "`it` stands {it:.1} times in 1,000 lines");
    assert!(
        tuple_fields <= MOST_TUPLE_FIELDS,
        "a tuple field is read {tuple_fields:.1} times in 1,000 lines"
    );
}

/// Files that the pages are made of, with their path from the root.
fn pages() -> Vec<(String, String)> {
    let (mut all, mut folders) = (Vec::new(), vec![root().join("web/src"), root().join("web/workbench")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                all.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(10 < all.len());
    all
}

#[test]
fn colours_and_pixels_of_the_pages_stand_in_their_tokens_alone() {
    let is_hex = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
        [3, 4, 6, 8].contains(&digits) && !text[digits..].starts_with(|next: char| next.is_alphanumeric())
    };
    for (path, text) in pages().iter().filter(|page| page.0 != "web/src/style/tokens.css") {
        let mut words = ["rgb(", "rgba(", "hsl(", "oklch(", "light-dark("].iter();
        assert!(!words.any(|word| text.contains(word)), "{path} names a colour; it belongs in tokens.css");
        let is_colour = text.split('#').skip(1).any(is_hex);
        assert!(!is_colour, "{path} names a colour; it belongs in tokens.css");
        let mut before_px = text.split("px").map(|part| part.chars().last());
        let has_pixels = before_px.any(|before_px| before_px.is_some_and(|letter| letter.is_ascii_digit()));
        assert!(!path.ends_with(".css") || !has_pixels, "{path} names pixels; they belong in tokens.css");
    }
}

#[test]
fn each_dialect_is_read_in_its_own_file() {
    let shapes = [
        ("\"evals\"", "native.rs"),
        ("\"annotation_type\"", "potato/schemes.rs"),
        ("\"default_test\"", "agentv/defaults.rs"),
        ("\"pass_threshold\"", "monitor.rs"),
        ("\"score_ranges\"", "agentv/assertion"),
    ];
    for (path, text) in sources() {
        for (key, home) in shapes {
            let reads = [".get(", ".need(", ".list(", ".text(", ".any(&[", ".number("]
                .iter()
                .any(|one_text| text.contains(&format!("{one_text}{key}")));
            assert!(
                !reads || path.contains(&format!("dialect/{home}")),
                "{path} reads {key}, which is the business of {home}"
            );
        }
    }
}

#[test]
fn nothing_prints_but_the_command() {
    for (path, text) in sources() {
        let prints = ["println!", "print!(", "eprintln!", "eprint!(", "dbg!("]
            .iter()
            .any(|one_text| code_of(&text).contains(one_text));
        assert!(!prints, "{path} prints; the command line writes to a stream it was given");
    }
}

/// The names of the modules in a folder of sources: its files and folders, without the root and tests.
fn top_level_modules(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    let names = names.filter(|name| !name.contains(".test."));
    let modules = names.map(|name| name.split('.').next().unwrap_or_default().to_owned());
    modules.filter(|module| module != "lib" && module != "main").collect()
}

/// The rows of the module table under a heading of ARCHITECTURE.md: name and description.
fn documented_modules(page: &str, heading: &str) -> Vec<(String, String)> {
    let sections = page.split("\n### ").skip(1);
    let section =
        sections.filter_map(|section| section.split_once('\n')).find(|section| section.0 == heading);
    let (_, section) = section.unwrap_or_else(|| panic!("ARCHITECTURE.md has no section `### {heading}`"));
    let lines = section.lines().take_while(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(name, rest)| (name.to_owned(), rest.trim_matches([' ', '|']).to_owned())).collect()
}

#[test]
fn module_tables_of_the_architecture_page_list_the_modules_that_exist() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let crates = crates.map(|name| format!("crates/{}", name.to_string_lossy()));
    let folders = crates.map(|name| (format!("`{name}`"), format!("{name}/src")));
    let mut differences = Vec::new();
    for (heading, folder) in folders.chain([("`web/src`".to_owned(), "web/src".to_owned())]) {
        let existing = top_level_modules(&root().join(&folder));
        let mut documented = BTreeSet::new();
        for (name, description) in documented_modules(&page, &heading) {
            if description.is_empty() {
                differences.push(format!("{folder}: the row of `{name}` does not say what it does"));
            }
            if !documented.insert(name.clone()) {
                differences.push(format!("{folder}: `{name}` has two rows"));
            }
        }
        let missing = existing.difference(&documented);
        differences.extend(missing.map(|name| format!("{folder}: `{name}` has no row in the table")));
        let gone = documented.difference(&existing);
        differences.extend(gone.map(|name| format!("{folder}: `{name}` has a row and does not exist")));
    }
    assert!(differences.is_empty(), "ARCHITECTURE.md: {differences:#?}");
}

/// The path from the root that a word of a guide names, if it names one. The short form begins with a crate.
fn path_of_word(word: &str) -> Option<String> {
    if word.contains(['*', '<', ' ', '…']) || word.contains("TARGET") {
        return None;
    }
    let (first, rest) = word.split_once('/')?;
    match first {
        "core" | "engine" | "store" | "server" | "cli" => Some(format!("crates/{first}/src/{rest}")),
        "crates" | "docs" | "fuzz" | "schemas" | "scripts" | "web" => Some(word.to_owned()),
        _ => None,
    }
}

/// Whether a file has a name somewhere else than in an import.
fn has_name(path: &Path, name: &str) -> bool {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("use ") && !line.starts_with("pub use "));
    let mut words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.any(|word| word == name)
}

#[test]
fn paths_that_the_guides_name_exist_and_have_the_names_beside_them() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let (mut n_paths, mut n_names, mut missing) = (0, 0, Vec::new());
        // Blocks of code are left out.
        for block in text.split("```").step_by(2) {
            // Every second part stands between backticks.
            let parts: Vec<&str> = block.split('`').collect();
            for (at, word) in parts.iter().enumerate().skip(1).step_by(2) {
                let Some(path) = path_of_word(word) else { continue };
                n_paths += 1;
                let file = root().join(&path);
                if !file.exists() {
                    missing.push(path);
                    continue;
                }
                // `path` (`name`), or `name` in `path`.
                let after = (parts[at + 1] == " (").then(|| parts[at + 2]);
                let before = (parts[at - 1] == " in ").then(|| parts[at - 2]);
                for name in [after, before].into_iter().flatten().filter(|_| file.is_file()) {
                    let name = name.rsplit("::").next().unwrap_or(name).trim_end_matches('!');
                    if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                        n_names += 1;
                        if !has_name(&file, name) {
                            missing.push(format!("`{name}` in {path}"));
                        }
                    }
                }
            }
        }
        assert!(5 < n_paths && 5 < n_names, "{page} names {n_paths} paths and {n_names} names");
        assert!(missing.is_empty(), "{page}: these do not exist: {missing:#?}");
    }
}

/// What the server's build script says about pages of a release build, with this in `web/`.
fn run_build_script(script: &Path, arrange_pages: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (manifest, web) = (folder.path().join("crates/server"), folder.path().join("web"));
    fs::create_dir_all(&manifest).unwrap();
    fs::create_dir_all(web.join("src")).unwrap();
    fs::create_dir_all(web.join("dist")).unwrap();
    fs::write(web.join("build-inputs.txt"), "index.html\nsrc\n").unwrap();
    fs::write(web.join("index.html"), "").unwrap();
    fs::write(web.join("src/main.tsx"), "").unwrap();
    arrange_pages(&web);
    // Nothing on the path: a script that starts a program fails.
    let mut command = Command::new(script);
    command.env_clear().env("CARGO_MANIFEST_DIR", &manifest).env("PROFILE", "release").env("PATH", "");
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("cargo::warning=")).collect()
}

#[test]
fn a_release_build_starts_nothing_and_warns_of_pages_that_are_absent_or_old() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("build-script");
    let source = root().join("crates/server/build.rs");
    let text = fs::read_to_string(&source).unwrap();
    for word in ["Command", "std::net", "TcpStream"] {
        assert!(!code_of(&text).contains(word), "build.rs says {word}");
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc).args(["--edition", "2024", "-o"]).args([&script, &source]).status();
    assert!(compiled.unwrap().success());

    let write = |path: PathBuf, seconds: u64| {
        fs::write(&path, "").unwrap();
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(moment).unwrap();
    };
    let absent = run_build_script(&script, |_| {});
    assert!(absent.contains("absent") && absent.contains("make web"), "{absent}");
    let old = run_build_script(&script, |web| write(web.join("dist/index.html"), 1_000));
    assert!(old.contains("older than their sources") && old.contains("make web"), "{old}");
    let new = run_build_script(&script, |web| write(web.join("dist/index.html"), 100_000_000_000));
    assert_eq!(new, "");
}

#[test]
fn what_builds_a_release_builds_the_pages_first() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    // `make demo` runs an unoptimised program, which reads the pages from disk.
    for target in ["tour", "bench", "dist", "soak"] {
        let line = makefile.lines().find(|line| line.starts_with(&format!("{target}:"))).unwrap();
        let needs = line.split("##").next().unwrap();
        assert!(needs.split_whitespace().any(|word| word == "web"), "`make {target}` does not need `web`");
    }
}

fn check_generated(path: &Path, text: &str) {
    if std::env::var_os("JURIST_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "{} is out of date; JURIST_BLESS=1 writes it anew", path.display());
}

#[test]
fn schemas_are_up_to_date() {
    for name in jurist_core::schema::SCHEMAS {
        let text = jurist_core::schema::schema(name).unwrap();
        serde_json::from_str::<Json>(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(generated) = jurist_core::schema::generate_schema(name) {
            check_generated(&root().join(format!("schemas/{name}.schema.json")), &generated);
        }
    }
}

#[test]
fn the_command_reference_is_up_to_date() {
    let help = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_jurist")).args(args).arg("--help").env_clear().output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let main = help(&[]);
    let mut page = String::from(
        "# The `jurist` command\n\nGenerated from `jurist --help`; a test compares the two.\n\n",
    );
    page += &format!("```text\n{main}```\n");
    // Subcommands stand in groups, before the options; a continued line is indented further.
    let groups = main.lines().skip_while(|line| *line != "Evaluate:").take_while(|line| *line != "Options:");
    let commands = groups.filter_map(|line| line.strip_prefix("  ")).filter(|text| !text.starts_with(' '));
    for command in commands.filter_map(|command| command.split_whitespace().next()) {
        let text = help(&[command]);
        page += &format!("\n## jurist {command}\n\n```text\n{text}```\n");
        let nested = text.lines().skip_while(|line| *line != "Commands:").skip(1);
        let nested = nested.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
        let names =
            nested.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_whitespace().next());
        for name in names {
            let text = help(&[command, name]);
            page += &format!("\n### jurist {command} {name}\n\n```text\n{text}```\n");
        }
    }
    check_generated(&root().join("docs/cli.md"), &page);
}
