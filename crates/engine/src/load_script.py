import importlib.util, inspect, json, os, sys
request = json.load(open(sys.argv[1], encoding="utf-8"))
source, values = request["source"], request["arguments"]
sys.path.insert(0, os.path.dirname(source["path"]))
spec = importlib.util.spec_from_file_location("script", source["path"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
name = source["function"] or source["usual"]
if not hasattr(module, name):
    sys.exit(f"there is no function `{name}`")
function = getattr(module, name)
# A function may take fewer values than it is offered.
wanted = [parameter for parameter in inspect.signature(function).parameters.values()
          if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
result = function(*values[: len(wanted)])
if inspect.isawaitable(result):
    import asyncio
    async def wait():
        return await result
    result = asyncio.run(wait())
json.dump(result, open(sys.argv[2], "w", encoding="utf-8"))
