# Runs one check of a suite: code or a file, told as JSON on the standard input.
import asyncio, dataclasses, datetime, importlib.util, inspect, json, math, os, re, sys, textwrap

request = json.load(sys.stdin)
# What the code prints is not its answer.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
sys.stdout.flush()
os.dup2(2, 1)
sys.stdout = sys.stderr
output, context = request["output"], request["context"]


def from_file(path, function):
    path = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("check_of_the_suite", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, function, None)
    if not callable(found):
        raise SystemExit(f"`{path}` has no function `{function}`")
    return found(output, context)


def inline(code):
    names = {"output": output, "context": context, "json": json, "math": math, "re": re, "datetime": datetime}
    if "\n" not in code.strip():
        try:
            return eval(compile(code.strip(), "<check>", "eval"), names)
        except SyntaxError:
            pass
    body = textwrap.indent(textwrap.dedent(code), "    ")
    exec(compile("def check(output, context):\n" + body + "\n", "<check>", "exec"), names)
    return names["check"](output, context)


if "file" in request:
    result = from_file(request["file"], request.get("function") or "get_assert")
else:
    result = inline(request["code"])
if inspect.isawaitable(result):

    async def wait():
        return await result

    result = asyncio.run(wait())
if dataclasses.is_dataclass(result):
    result = dataclasses.asdict(result)
answers.write(json.dumps(result, allow_nan=False))
answers.flush()
