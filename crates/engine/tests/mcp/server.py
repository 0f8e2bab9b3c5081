"""An MCP server for tests, over its standard streams: tools that work, that fail, and that break the server."""
import json, os, sys, time

TOOLS = {
    "add": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
    "fail": {"type": "object", "properties": {}},
    "slow": {"type": "object", "properties": {}},
    "huge": {"type": "object", "properties": {"megabytes": {"type": "number"}}},
    "die": {"type": "object", "properties": {}},
    "variable": {"type": "object", "properties": {"name": {"type": "string"}}},
    "write": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}},
}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name, arguments):
    text = lambda it, error=False: {"content": [{"type": "text", "text": it}], "isError": error}
    if name == "add":
        return text(str(arguments["a"] + arguments["b"]))
    if name == "fail":
        return text("the database is closed", True)
    if name == "slow":
        time.sleep(30)
        return text("late")
    if name == "huge":
        return text("x" * int(arguments["megabytes"] * 1_000_000))
    if name == "die":
        print("out of memory, goodbye", file=sys.stderr, flush=True)
        os._exit(1)
    if name == "variable":
        return text(os.environ.get(arguments["name"], "(not set)"))
    if name == "write":
        with open(arguments["path"], "w") as file:
            file.write(arguments["text"])
        return text("written")


if "--broken" in sys.argv:
    print("no such database", file=sys.stderr)
    sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "test", "version": "1"}
        say({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        tools = [{"name": name, "description": f"Does {name}.", "inputSchema": it} for name, it in TOOLS.items()]
        result = {"tools": tools}
        if "--endless" in sys.argv:
            result["nextCursor"] = str(int(message.get("params", {}).get("cursor") or 0) + 1)
        say({"id": id, "result": result})
    elif method == "tools/call":
        params = message["params"]
        if params["name"] in TOOLS:
            say({"id": id, "result": call(params["name"], params.get("arguments") or {})})
        else:
            say({"id": id, "error": {"code": -32602, "message": f"unknown tool {params['name']}"}})
    else:
        say({"id": id, "error": {"code": -32601, "message": "not found"}})
