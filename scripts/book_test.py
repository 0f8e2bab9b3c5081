"""Whether the checks of the book and of its words would notice what they are for."""

import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

import api_page
import check_book
import check_prose
import environment_variables
import inline_commands


class Outputs(unittest.TestCase):
    def test_an_ellipsis_stands_for_a_part_of_a_line_or_for_lines(self):
        self.assertTrue(check_book.matches("run_…  1 passed\n", "run_01a1  1 passed\n"))
        self.assertTrue(check_book.matches("first\n…\nlast\n", "first\na\nb\nlast\n"))
        self.assertTrue(check_book.matches("…\n", ""))

    def test_another_output_is_noticed(self):
        self.assertFalse(check_book.matches("2 passed\n", "1 passed\n"))
        self.assertFalse(check_book.matches("first\n…\nlast\n", "first\na\n"))
        self.assertFalse(check_book.matches("", "an error\n"))
        self.assertFalse(check_book.matches("run_…  1 passed\n", "run_1\n1 passed\n"))


class Variables(unittest.TestCase):
    def test_names_are_found_in_each_language(self):
        rust = 'load::variable("XDG_STATE_HOME"); process.env("PYTHONUTF8", "1"); let text = "OK"; keys: &["CO_API_KEY"]'
        self.assertEqual(environment_variables.find_variables(rust), {"XDG_STATE_HOME", "PYTHONUTF8", "CO_API_KEY"})
        self.assertEqual(environment_variables.find_variables("os.environ.get('HOME')"), {"HOME"})
        self.assertEqual(environment_variables.find_variables("process.env.JURIST_BINARY"), {"JURIST_BINARY"})

    def test_a_variable_that_the_page_lacks_is_named_and_those_of_tests_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            source = root / "crates/cli/src/a.rs"
            source.parent.mkdir(parents=True)
            tests = '#[cfg(test)]\nmod tests {\n    variable("OF_TESTS");\n}\n'
            source.write_text(f'// "IN_COMMENT"\nvariable("NEW_ONE");\nvariable("OLD_ONE");\n{tests}')
            (root / "docs").mkdir()
            (root / "docs/settings.md").write_text("`OLD_ONE`\n")
            faults = [fault for fault in environment_variables.find_faults(root) if "any more" not in fault]
        self.assertEqual(faults, ["crates/cli/src/a.rs: the variable NEW_ONE is not in docs/settings.md"])


class Pages(unittest.TestCase):
    def try_text(self, text):
        """With a shell script in place of jurist: `jurist fail` ends with 1, anything else prints its arguments."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bin/jurist"
            program.parent.mkdir()
            program.write_text('#!/bin/sh\n[ "$1" = fail ] && exit 1\necho "$@"\n')
            program.chmod(0o755)
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            return check_book.try_page(os.path.relpath(page, check_book.ROOT), program)

    def test_files_are_written_and_commands_run_in_one_folder(self):
        result = self.try_text("```text file=a.txt\nhello\n```\n\n```console\n$ cat a.txt\nhello\n$ jurist say hi\nsay hi\n```\n")
        self.assertEqual((result.faults, result.n_commands, result.n_files), ([], 2, 1))

    def test_another_output_and_another_exit_code_are_faults(self):
        self.assertEqual(len(self.try_text("```console\n$ jurist say hi\nsay ho\n```\n").faults), 1)
        self.assertEqual(len(self.try_text("```console\n$ jurist fail\n```\n").faults), 1)
        self.assertEqual(self.try_text("```console\n$ jurist fail\n$ echo $?\n1\n```\n").faults, [])
        self.assertEqual(self.try_text("```console exit=1\n$ jurist fail\n```\n").faults, [])

    def test_what_is_not_run_is_counted_with_its_reason(self):
        result = self.try_text("```console needs=a-release\n$ jurist fail\n```\n")
        self.assertEqual((result.faults, result.n_blocks), ([], 0))
        self.assertEqual(result.skipped, {check_book.NOT_RUN["a-release"]: [f"{result.page}:1"]})

    def test_an_unknown_reason_is_a_fault(self):
        self.assertEqual(len(self.try_text("```console needs=patience\n$ jurist say hi\n```\n").faults), 1)

    def test_a_program_that_is_installed_is_no_reason(self):
        text = "```console needs=duckdb\n$ jurist say hi\nsay hi\n```\n"
        with unittest.mock.patch.object(check_book.shutil, "which", lambda name: f"/usr/bin/{name}"):
            self.assertEqual(self.try_text(text).n_blocks, 1)

    def test_blocks_in_comments_prepare_the_page(self):
        result = self.try_text("<!-- not shown:\n```console\n$ echo hello > a.txt\n```\n-->\n\n```console\n$ cat a.txt\nhello\n```\n")
        self.assertEqual((result.faults, result.n_blocks), ([], 2))

    def test_a_judge_answers_the_blocks_that_name_it_and_no_others(self):
        curl = "curl --silent $ANTHROPIC_BASE_URL/v1/messages --data '{\"model\": \"m\", \"messages\": []}' | grep -o '\"text\": \"yes\"'"
        result = self.try_text(f"```console judge\n$ export ANTHROPIC_API_KEY=…\n$ {curl}\n```\n\n"
                               "```console\n$ echo =$ANTHROPIC_API_KEY\n=\n```\n")
        self.assertEqual(result.faults, [])

    def test_a_program_that_does_not_end_is_started_and_stopped(self):
        serve = "$ sh -c 'trap \"exit 0\" TERM; echo ready; while true; do sleep 0.1; done'\n"
        self.assertEqual(self.try_text(f"```console starts\n{serve}```\n").faults, [])
        self.assertEqual(len(self.try_text("```console starts\n$ sh -c 'echo no; exit 3'\n```\n").faults), 1)


class Prose(unittest.TestCase):
    rules = [(re.compile(r"\b(?:whoever)\b", re.IGNORECASE), "the reader")]

    def test_a_phrase_is_found_with_its_line(self):
        faults = list(check_prose.find_faults("page.md", "# Head\n\nWhoever reads this.\n", self.rules))
        self.assertEqual(faults, ["page.md:3: “Whoever”; better: the reader"])

    def test_code_is_not_prose(self):
        text = "```\nwhoever\n```\n`whoever` [link](whoever.md) <!-- whoever -->\n"
        self.assertEqual(list(check_prose.find_faults("page.md", text, self.rules)), [])

    def test_strings_and_help_of_sources_are_prose_and_code_is_not(self):
        source = '/// Whoever helps\nlet whoever = "whoever\nwhoever"; // whoever\n'
        lines = [fault.split(":")[1] for fault in check_prose.find_faults("main.rs", source, self.rules)]
        self.assertEqual(lines, ["1", "2", "3"])

    def test_quotes_in_characters_and_raw_strings_of_rust_do_not_shift_the_strings(self):
        source = "let quote = '\"'; let whoever = 1;\nlet raw = r#\"a \" b\"#; let whoever = 2;\nlet text = \"whoever\";\n"
        lines = [fault.split(":")[1] for fault in check_prose.find_faults("main.rs", source, self.rules)]
        self.assertEqual(lines, ["3"])

    def test_docstrings_and_strings_of_python_are_prose(self):
        source = '"""Head.\n\nWhoever reads.\n"""\nwhoever = f"whoever {whoever}"  # whoever\n'
        lines = [fault.split(":")[1] for fault in check_prose.find_faults("main.py", source, self.rules)]
        self.assertEqual(lines, ["3", "5"])

    def test_sentences_and_text_between_tags_of_pages_are_prose(self):
        source = '/** Whoever */\nconst kind = "whoever"; // Whoever reads\nconst text = "Whoever reads";\n<p>\n  Whoever asks\n</p>\n'
        lines = [fault.split(":")[1] for fault in check_prose.find_faults("Page.tsx", source, self.rules)]
        self.assertEqual(lines, ["3", "5"])

    def test_one_word_of_a_page_is_prose_where_it_is_shown(self):
        source = 'const tab = { name: "whoever", label: "Whoever" };\nuse("whoever");\n<h2>Whoever</h2>\n<p>{n} whoever</p>\n'
        lines = [fault.split(":")[1] for fault in check_prose.find_faults("Page.tsx", source, self.rules)]
        self.assertEqual(lines, ["1", "3", "4"])

    def test_short_sentences_are_easier(self):
        easy = check_prose.measure("The cat sat. The dog ran.")
        hard = check_prose.measure("Notwithstanding considerations regarding interoperability, organisations characteristically hesitate.")
        self.assertEqual((easy.n_sentences, easy.n_words), (2, 6))
        self.assertLess(hard.flesch, easy.flesch)


class Api(unittest.TestCase):
    def test_every_operation_has_an_example(self):
        page = api_page.make_page()
        self.assertEqual(len(re.findall("^### ", page, re.MULTILINE)), page.count("```sh\ncurl"))

    def test_no_example_has_a_placeholder(self):
        examples = "".join(re.findall("^```sh\n(.*?)^```", api_page.make_page(), re.DOTALL | re.MULTILINE))
        self.assertEqual(re.findall(r"\bTEXT\b|/[A-Z]+\b|@FILE|'\{\}'|\[\]", examples), [])

    def test_nobody_needs_a_token_to_join_or_sign_in(self):
        examples = dict(re.findall(r"^### (.+?)\n.*?^```sh\n(.*?)^```", api_page.make_page(), re.DOTALL | re.MULTILINE))
        self.assertNotIn("JURIST_TOKEN", examples["POST /api/v1/join"] + examples["POST /api/v1/session"] + examples["GET /ready"])
        self.assertIn("JURIST_TOKEN", examples["GET /api/v1/session"])
        for annotators in ("POST /api/v1/tasks/{task}/next", "POST /api/v1/assignments/{id}/submit"):
            self.assertIn("--cookie cookies.txt", examples[annotators])
            self.assertNotIn("JURIST_TOKEN", examples[annotators])
        self.assertIn("/tasks/ant_", examples["DELETE /api/v1/tasks/{task}/items/{item}"])

    def test_fields_of_answers_are_listed_and_objects_inside_are_linked(self):
        schemas = {
            "Plan": {"required": ["cost", "steps"], "properties": {
                "cost": {"type": "number", "description": "Dollars."},
                "steps": {"type": "array", "description": "In order.", "items": {"$ref": "#/components/schemas/Step"}},
                "until": {"type": ["string", "null"], "description": "End of\nthe plan."}}},
            "Named": {"allOf": [{"$ref": "#/components/schemas/Plan"}, {"properties": {"interval": {
                "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "description": "95 %."}}}]},
            "Step": {"description": "A step", "properties": {"kind": {"$ref": "#/components/schemas/Kind"}}},
            "Kind": {"enum": ["first", "last"], "type": "string", "description": "Kind of step."},
        }
        answer = {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Named"}}}}
        document = {"components": {"schemas": schemas}, "paths": {"/plan": {"get": {"responses": {"200": answer}}}}}
        self.assertIn(
            "| field of `Named` | type | meaning |\n| --- | --- | --- |\n"
            "| `cost` | number | Dollars. |\n"
            "| `steps` | list of [Step](api-objects.md#step) | In order. |\n"
            "| `until` | string, optional | End of the plan. |\n"
            "| `interval` | list of 2 numbers, optional | 95 %. |\n",
            api_page.render_page(document))
        self.assertIn("\n## Step\n\nA step.\n\n| field |", api_page.render_objects_page(document))
        self.assertIn("| `kind` | `first` or `last`, optional | Kind of step. |", api_page.render_objects_page(document))

    def test_each_link_to_an_object_leads_to_its_heading(self):
        pages = api_page.make_page() + api_page.make_objects_page()
        links = set(re.findall(r"\]\(api-objects\.md#(\w+)\)", pages))
        headings = {name.lower() for name in re.findall(r"^## (\w+)$", api_page.make_objects_page(), re.MULTILINE)}
        self.assertEqual(links, headings)


class InlineCommands(unittest.TestCase):
    """With a shell script in place of jurist that has one command, `runs show`, whose flag --prompts requires --case."""

    program = r"""#!/bin/sh
case "$*" in
  *--help)
    case "$*" in
      "runs show"*) printf 'Usage: jurist runs show [OPTIONS] <RUN>\n\nOptions:\n      --case <NAME>  One case\n      --prompts  Prompts\n' ;;
      runs*) printf 'Usage: jurist runs <COMMAND>\n\nCommands:\n  show  Show a run\n\nOptions:\n  -h, --help  Help\n' ;;
      *) printf 'Usage: jurist <COMMAND>\n\nEvaluate:\n  runs  Stored runs\n\nOptions:\n  -h, --help  Help\n' ;;
    esac ;;
  *--prompts*--case*|*--case*--prompts*) ;;
  *--prompts*) printf 'error: the following required arguments were not provided:\n  --case <NAME>\n\n' >&2; exit 2 ;;
esac
"""

    def find_faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "jurist"
            program.write_text(self.program)
            program.chmod(0o755)
            reference = inline_commands.CommandReference(program, folder)
            return [fault.split(": ", 2)[2] for fault in inline_commands.find_faults("page.md", text, reference)]

    def test_commands_of_the_program_are_in_order(self):
        text = "`jurist runs`, `jurist runs show`, `jurist COMMAND --help`, `jurist runs show latest --case 'a b' --prompts | less`"
        self.assertEqual(self.find_faults(text), [])

    def test_other_subcommands_and_flags_are_faults(self):
        text = "`jurist rns` `jurist runs shw` `jurist runs show --cas x`\n\n```console needs=a-key\n$ jurist rns\n```\n"
        expected = ["no subcommand `rns`", "no subcommand `shw`", "no flag `--cas`", "no subcommand `rns`"]
        self.assertEqual(self.find_faults(text), [f"there is {fault}" for fault in expected])

    def test_a_flag_that_another_one_requires_is_missed(self):
        self.assertEqual(self.find_faults("`jurist runs show latest --prompts`"), ["`--case` is missing"])

    def test_blocks_that_are_run_are_left_to_the_run(self):
        self.assertEqual(self.find_faults("```console\n$ jurist rns\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
