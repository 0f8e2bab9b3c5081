"""A judge for benchmarks and for the commands of the book: answers after a fixed time, in the shape that the request asks
for. It speaks OpenAI's chat protocol, and Anthropic's messages under /v1/messages.

usage: judge_server.py MILLISECONDS   (prints its address; ends with its standard input)
`GET /count` gives the number of completions so far.
"""

import asyncio
import json
import os
import re
import sys


def fill(schema, root, highest=1):
    """Some value of a JSON Schema that agrees wherever there is a choice; `highest` is the number for one without a bound."""
    if "$ref" in schema:
        found = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return fill(found, root, highest)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return next((value for value in schema["enum"] if str(value).lower() in ("met", "yes", "true")), schema["enum"][0])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return fill(schema[key][0], root, highest)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    answered = schema.get("items", {}).get("properties", {}).get("id", {}).get("enum", []) if kind == "array" else []
    if answered:
        return [{**fill(schema["items"], root, highest), "id": name} for name in answered]
    if kind == "object":
        # Quotes would have to be in the candidate.
        return {name: [] if name == "evidence" else fill(inner, root, highest) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill(schema["items"], root, highest)] if "items" in schema else []
    return {"boolean": True, "string": "yes", "null": None}.get(kind, schema.get("maximum", highest))


def answer_messages(request):
    """As Anthropic's protocol has it. A tool is called once; the next answer is a text."""
    schema = ((request.get("output_config") or {}).get("format") or {}).get("schema")
    tools = [] if "tool_result" in json.dumps(request["messages"]) else request.get("tools", [])
    if tools:
        schema = tools[0]["input_schema"]
        content = {"type": "tool_use", "id": "1", "name": tools[0]["name"], "input": fill(schema, schema)}
    else:
        # The schemas of this protocol have no bounds; the question names them.
        scale = re.findall(r"whole numbers from -?\d+ to (\d+)", json.dumps(request["messages"]))
        content = {"type": "text", "text": "yes" if schema is None else json.dumps(fill(schema, schema, int(scale[-1]) if scale else 1))}
    return {"id": "1", "type": "message", "role": "assistant", "model": request["model"], "content": [content],
            "stop_reason": "tool_use" if tools else "end_turn", "usage": {"input_tokens": 300, "output_tokens": 20}}


def answer(request):
    usage = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}
    tools = request.get("tools")
    if tools:
        function = tools[0]["function"]
        arguments = json.dumps(fill(function.get("parameters", {}), function.get("parameters", {})))
        call = {"id": "1", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    else:
        schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")
        value = {"reasoning": "yes", "verdict": True, "score": 1, "reason": "yes", "value": "yes"} if schema is None else fill(schema, schema)
        message = {"role": "assistant", "content": json.dumps(value)}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls" if tools else "stop"}]
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "judge", "choices": choices, "usage": usage}


async def serve(seconds):
    n_answered = 0

    async def handle(reader, writer):
        nonlocal n_answered
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
                body = await reader.readexactly(length)
                if head.startswith("GET /count"):
                    reply = json.dumps(n_answered).encode()
                elif head.startswith("POST"):
                    n_answered += 1
                    if seconds:
                        await asyncio.sleep(seconds)
                    is_messages = head.startswith("POST /v1/messages")
                    reply = json.dumps((answer_messages if is_messages else answer)(json.loads(body))).encode()
                else:
                    reply = json.dumps({"object": "list", "data": [{"id": "judge", "object": "model"}]}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(reply), reply))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Open connections end with the process.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]) / 1000))
