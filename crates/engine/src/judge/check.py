# Runs one check of a suite: code, a file or an evaluator, described by JSON on the standard input.
import asyncio, dataclasses, datetime, importlib, importlib.util, inspect, json, math, os, re, sys, textwrap

request = json.load(sys.stdin)
# What the code prints is not its answer.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
sys.stdout.flush()
os.dup2(2, 1)
sys.stdout = sys.stderr
output, context = request["output"], request["context"]


def from_file(path, name):
    path = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("check_of_the_suite", path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look for the module of their class there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return find_member(module, path, name)


def from_module(path, module, name):
    """A member of a module that another process has imported from this file."""
    stem = re.sub(r"(/__init__)?\.py$", "", path.replace(os.sep, "/"))
    inner = "/" + module.replace(".", "/")
    if not stem.endswith(inner):
        return from_file(path, name)
    sys.path.insert(0, stem.removesuffix(inner))
    return find_member(importlib.import_module(module), path, name)


def find_member(module, path, name):
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found) and not hasattr(found, "evaluate"):
        raise SystemExit(f"`{path}` has no function `{name}`")
    return found


def from_name(name):
    """An evaluator that a program or an installed package has registered."""
    registered = json.loads(os.environ.get("JURIST_EVALUATORS") or "{}")
    if name in registered:
        return from_module(*registered[name])
    import importlib.metadata

    for point in importlib.metadata.entry_points(group="jurist.evaluators"):
        if point.name == name:
            return point.load()
    raise SystemExit(
        f"no evaluator is registered as `{name}`; register a class or function that stands at the top level of a"
        " module (not of the program itself), or declare it as an entry point of the group `jurist.evaluators`"
    )


def takes_outputs(found):
    try:
        return "outputs" in inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False


def call(found, is_registered=False):
    """Calls a function of promptfoo's contract, or an evaluator: a class, an object or a function."""
    config, arguments = context["config"], request["evaluation"]
    is_maker = inspect.isclass(found)
    if not is_maker and not hasattr(found, "evaluate") and not takes_outputs(found):
        if not is_registered:
            return found(output, context)
        is_maker = True
    if is_maker:
        found = found(**config)
        config = {}
    if hasattr(found, "evaluate"):
        found = found.evaluate
    elif not callable(found):
        raise SystemExit(f"`{type(found).__name__}` has no method `evaluate`")
    return EvaluatorAnswer(found(**arguments, **config))


class EvaluatorAnswer:
    def __init__(self, result):
        self.result = result


def read_evaluation(result):
    """What an evaluator says, as the answer of a check; without a score it is an error."""
    if result is None or isinstance(result, (bool, int, float)):
        return result
    get = result.get if isinstance(result, dict) else lambda name: getattr(result, name, None)
    score, value, comment, error = get("score"), get("value"), get("comment") or "", get("error")
    if error is not None or score is None:
        raise SystemExit(f"the evaluator gives no score: {error or comment or 'it does not say why'}")
    answer = {"pass": score} if isinstance(score, bool) else {"score": score}
    if isinstance(value, bool):
        answer["pass"] = value
    return {**answer, "reason": str(comment)}


def inline(code):
    named = re.fullmatch(r"\s*evaluator:\s*([\w.\-]+)\s*", code)
    if named:
        return call(from_name(named[1]), is_registered=True)
    names = {"output": output, "context": context, "json": json, "math": math, "re": re, "datetime": datetime}
    if "\n" not in code.strip():
        try:
            return eval(compile(code.strip(), "<check>", "eval"), names)
        except SyntaxError:
            pass
    body = textwrap.indent(textwrap.dedent(code), "    ")
    exec(compile("def check(output, context):\n" + body + "\n", "<check>", "exec"), names)
    return names["check"](output, context)


def wait(result):
    async def finish():
        return await result

    return asyncio.run(finish()) if inspect.isawaitable(result) else result


if "file" in request:
    result = call(from_file(request["file"], request.get("function") or "get_assert"))
else:
    result = inline(request["code"])
if isinstance(result, EvaluatorAnswer):
    result = read_evaluation(wait(result.result))
else:
    result = wait(result)
    if dataclasses.is_dataclass(result):
        result = dataclasses.asdict(result)
answers.write(json.dumps(result, allow_nan=False))
answers.flush()
