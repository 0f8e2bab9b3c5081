"""Exports spans as agents do, and reads them back; scripts/check-otlp installs what it takes.

usage: check_otlp.py JURIST MODEL_SERVER [NODE_PACKAGES]

NODE_PACKAGES is a folder with the npm packages of the JavaScript example; without it, that example is not tried.
"""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_and_event"

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor


PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/how-to/opentelemetry.md"


def need(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def start(*command):
    """A process, and the address that it prints first."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    return process, re.search(r"http://[\w.:]+", line).group(0)


def get(url):
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def finished(server, trace_id):
    """A trace that was put together."""
    for _ in range(2400):
        try:
            head = get(f"{server}/api/v1/traces/{trace_id}")
            if head["state"] == "finished":
                return head, get(f"{server}/api/v1/traces/{trace_id}/content")
        except urllib.error.HTTPError as error:
            need(error.code == 404, f"{error.code} for {trace_id}")
        time.sleep(0.1)
    sys.exit(f"FAILED: {trace_id} was never put together")


def provider(server, compression):
    exporter = OTLPSpanExporter(endpoint=f"{server}/v1/traces", compression=compression)
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


def by_hand(server, compression):
    """Spans of every type of attribute, whose agent repeats the usage of its model."""
    tracer = provider(server, compression).get_tracer("by hand")
    said = lambda role, text: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
    usage = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20}
    with tracer.start_as_current_span("invoke_agent helper") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper",
                              "gen_ai.conversation.id": "talk", "flag": True, "share": 0.5, "list": ["a", "b"], **usage})
        with tracer.start_as_current_span("chat gpt") as call:
            call.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt",
                                 "gen_ai.input.messages": said("user", "2 + 2?"),
                                 "gen_ai.output.messages": said("assistant", "Four."), **usage})
            call.add_event("first token", {"after": 3})
        with tracer.start_as_current_span("execute_tool add") as tool:
            tool.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add",
                                 "gen_ai.tool.call.arguments": '{"a": 2}', "gen_ai.tool.call.result": "4"})
    trace_id = format(agent.get_span_context().trace_id, "032x")
    head, content = finished(server, trace_id)
    need(head["n_pieces"] == 3 and head["agent"] == "helper" and head["session"] == "talk", head)
    need(head["tokens"] == {"input": 100, "output": 20, "cached": 0}, f"tokens are counted once: {head['tokens']}")
    texts = [it.get("text", "") for it in content["steps"]]
    need("2 + 2?" in texts and "Four." in texts, content)
    need(any(call["name"] == "add" for step in content["steps"] for call in step.get("tool_calls", [])), content)
    print(f"ok: {compression.value or 'plain'} protobuf, 3 spans, tokens counted once")


def instrumented(server, model, name):
    """What OpenAI's own client sends through an instrumentation of it."""
    try:
        import openai

        instrumentor = importlib.import_module(f"opentelemetry.instrumentation.{name}").OpenAIInstrumentor()
    except ImportError as error:
        print(f"SKIPPED {name}: {error}", file=sys.stderr)
        return
    tracing = provider(server, Compression.Gzip)
    instrumentor.instrument(tracer_provider=tracing)
    client = openai.OpenAI(base_url=f"{model}/v1", api_key="sk-" + "x" * 30)
    with tracing.get_tracer("agent").start_as_current_span("invoke_agent shop") as agent:
        agent.set_attribute("gen_ai.operation.name", "invoke_agent")
        reply = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Is it so?"}])
    instrumentor.uninstrument()
    trace_id = format(agent.get_span_context().trace_id, "032x")
    head, content = finished(server, trace_id)
    need(head["n_pieces"] == 2, f"a span of the agent and one of its model: {head}")
    need("x" * 30 not in json.dumps(content), "a key was kept")
    usage = {"input": reply.usage.prompt_tokens, "output": reply.usage.completion_tokens}
    need({key: head["tokens"][key] for key in usage} == usage, f"{head['tokens']} is not {usage}")
    print(f"ok: OpenAI's client through {name}, {usage['input']} + {usage['output']} tokens counted once, {len(content['steps'])} messages")


def read_example(language, name, server):
    """An example of the book as it is written there, with the address of this server."""
    code = re.search(rf"^```{language} file={re.escape(name)}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)[1]
    need("http://127.0.0.1:8000" in code, f"{name} has another address")
    return code.replace("http://127.0.0.1:8000", server)


def run_python_example(server):
    ran = subprocess.run([sys.executable, "-c", read_example("python", "traced.py", server)], capture_output=True, text=True, timeout=60)
    need(ran.returncode == 0, f"traced.py: {ran.stdout}{ran.stderr}")
    sent = get(f"{server}/api/v1/traces?agent=support")["items"]
    need(len(sent) == 1, f"one trace of the agent support, not {sent}")
    _, content = finished(server, sent[0]["id"])
    texts = [step.get("text") for step in content["steps"]]
    need(texts == ["Where is order 1042?", "It was shipped."], content)
    print("ok: the Python example of the book, 1 span")


def run_node_example(server, packages, exporter):
    """With its exporter, or another one."""
    code = read_example("js", "traced.mjs", server)
    need("exporter-trace-otlp-http" in code, "the example has another exporter")
    code = code.replace("exporter-trace-otlp-http", exporter)
    file = pathlib.Path(packages) / "traced.mjs"
    file.write_text(code)
    ran = subprocess.run(["node", str(file)], capture_output=True, text=True, timeout=60)
    need(ran.returncode == 0, f"{exporter}: {ran.stdout}{ran.stderr}")
    head, content = finished(server, ran.stdout.strip())
    need(head["n_pieces"] == 2 and head["agent"] == "support" and head["session"] == "chat-17", head)
    need(head["tokens"] == {"input": 14, "output": 5, "cached": 0}, head["tokens"])
    texts = [step.get("text") for step in content["steps"]]
    need(texts == ["Where is order 1042?", "It was shipped."], content)
    print(f"ok: the JavaScript example of the book with {exporter}, 2 spans")


def main():
    jurist, model_server, *packages = sys.argv[1:]
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            process, server = start(jurist, "serve", "--address", "127.0.0.1:0", "--store", f"{folder}/jurist.db")
            processes.append(process)
            process, model = start(model_server)
            processes.append(process)
            by_hand(server, Compression.NoCompression)
            by_hand(server, Compression.Gzip)
            for name in ["openai_v2", "openai"]:
                instrumented(server, model, name)
            run_python_example(server)
            if packages:
                for exporter in ["exporter-trace-otlp-http", "exporter-trace-otlp-proto"]:
                    run_node_example(server, packages[0], exporter)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


main()
