"""Writes docs/api.md from schemas/openapi.json: every operation with its parameters, body, answers and an example.

check_book.py compares the page with what this writes; JURIST_BLESS=1 writes it anew.
"""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/api.md"
METHODS = ("get", "post", "put", "patch", "delete")
HEAD = """# HTTP API

Generated from `schemas/openapi.json`; a test compares the two.

All operations are under the address of the server, such as `http://127.0.0.1:8000`.
A server with accounts needs a token in the header `Authorization: Bearer jrk_…`; the examples take it from `$JURIST_TOKEN`.
Errors are `application/problem+json` with `title`, `status` and `detail`.
Lists have a field `next`; send its value as `after` to get the next page.
The example bodies are made from the schemas and hold required fields only.
[Server](server.md) explains what the operations are for.
"""


def render_page(document):
    groups = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                groups.setdefault(item[method].get("tags", ["other"])[0], []).append((method, path, item[method]))
    parts = [HEAD]
    for group in sorted(groups):
        parts.append(f"\n## {group.capitalize()}\n")
        for method, path, operation in groups[group]:
            parts.append(render_operation(method, path, operation, document))
    return "".join(parts)


def render_operation(method, path, operation, document):
    lines = [f"\n### {method.upper()} {path}\n", f"\n{operation.get('summary', '').rstrip('.')}.\n"]
    parameters = operation.get("parameters", [])
    if parameters:
        lines.append("\n| parameter | in | type | meaning |\n| --- | --- | --- | --- |\n")
        lines += [render_parameter(parameter, document) for parameter in parameters]
    body = operation.get("requestBody", {}).get("content", {})
    schema = resolve(body.get("application/json", {}).get("schema"), document)
    if schema and schema.get("properties"):
        lines.append("\n| field of the body | type | meaning |\n| --- | --- | --- |\n")
        required = schema.get("required", [])
        for name, field in schema["properties"].items():
            mark = "" if name in required else ", optional"
            lines.append(f"| `{name}` | {name_type(field, document)}{mark} | {tidy(field.get('description', ''))} |\n")
    answers = [f"{status}: {describe_answer(answer, document)}" for status, answer in operation["responses"].items() if status.startswith("2")]
    if answers:
        lines.append(f"\nAnswer: {'; '.join(answers)}.\n")
    lines.append(render_example(method, path, parameters, schema, body, document))
    return "".join(lines)


def render_parameter(parameter, document):
    schema = resolve(parameter.get("schema", {}), document) or {}
    mark = "" if parameter.get("required") else ", optional"
    meaning = tidy(parameter.get("description", schema.get("description", "")))
    return f"| `{parameter['name']}` | {parameter['in']} | {name_type(parameter.get('schema', {}), document)}{mark} | {meaning} |\n"


def render_example(method, path, parameters, schema, body, document):
    query = [f"{parameter['name']}={make_value(parameter['schema'], document)}"
             for parameter in parameters if parameter["in"] == "query" and parameter.get("required")]
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", parameter["name"].upper())
    address = f"http://127.0.0.1:8000{path}" + (f"?{'&'.join(query)}" if query else "")
    lines = ["curl"]
    if method != "get":
        lines.append(f"--request {method.upper()}")
    lines.append('--header "Authorization: Bearer $JURIST_TOKEN"')
    if schema is not None:
        example = json.dumps(make_value(schema, document), ensure_ascii=False).replace("'", "’")
        lines.append(f"--header 'Content-Type: application/json' --data '{example}'")
    elif body:
        kind = next(iter(body))
        lines.append(f"--header 'Content-Type: {kind}' --data-binary @FILE")
    return "\n```sh\n" + " \\\n  ".join([*lines, f"'{address}'"]) + "\n```\n"


def resolve(schema, document):
    while schema and "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def name_type(schema, document):
    if "$ref" in schema:
        target = resolve(schema, document)
        if "enum" in target:
            return " or ".join(f"`{value}`" for value in target["enum"])
        return name_type(target, document) if target.get("type") in ("string", "integer", "number") else schema["$ref"].rsplit("/", 1)[1]
    for key in ("oneOf", "anyOf"):
        if key in schema:
            names = [name_type(option, document) for option in schema[key] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(names))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any")
    kind = next((name for name in kind if name != "null"), "any") if isinstance(kind, list) else kind
    if kind == "array":
        return f"list of {name_type(schema.get('items', {}), document)}"
    return str(kind)


def describe_answer(answer, document):
    schema = next((content.get("schema", {}) for content in answer.get("content", {}).values()), None)
    kind = name_type(schema, document) if schema else "no body"
    return f"{kind} ({tidy(answer['description'])})" if answer.get("description") else kind


def make_value(schema, document, depth=0):
    """A small value that fits the schema: required fields only."""
    schema = resolve(schema, document) or {}
    for key in ("example", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("examples"):
        return schema["examples"][0]
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return make_value(next(option for option in schema[key] if option.get("type") != "null"), document, depth)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = next((name for name in kind if name != "null"), None) if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        names = schema.get("required", []) if depth < 4 else []
        properties = schema.get("properties", {})
        if not names and depth == 0:
            names = list(properties)[:1]
        return {name: make_value(properties.get(name, {}), document, depth + 1) for name in names}
    if kind == "array":
        return [make_value(schema.get("items", {}), document, depth + 1)] if depth < 3 else []
    return {"string": "TEXT", "integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": True}.get(kind, {})


def tidy(text):
    return " ".join(text.split()).replace("|", "\\|")


def make_page():
    return render_page(json.loads((ROOT / "schemas/openapi.json").read_text()))


if __name__ == "__main__":
    PAGE.write_text(make_page())
