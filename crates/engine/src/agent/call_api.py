import importlib.util, inspect, json, sys
path, name, prompt, options, context = sys.argv[1:6]
spec = importlib.util.spec_from_file_location("provider", path)
module = importlib.util.module_from_spec(spec)
sys.path.insert(0, ".")
# What the file prints is not its answer.
answers, sys.stdout = sys.stdout, sys.stderr
spec.loader.exec_module(module)
result = getattr(module, name or "call_api")(prompt, json.loads(options), json.loads(context))
if inspect.isawaitable(result):
    import asyncio
    async def wait():
        return await result
    result = asyncio.run(wait())
answers.write(result if isinstance(result, str) else json.dumps(result))
