"""A stand-in for your agent: it "calls" one tool and answers. Replace it by your own program."""

import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("--prompt-file", required=True)
with open(parser.parse_args().prompt_file, encoding="utf-8") as file:
    prompt = file.read().strip()

call = {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 5150}'}}
if "5150" in prompt:
    output = "Order 5150 was shipped on Monday."
    steps = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"id": 5150, "status": "shipped"}'},
    ]
else:
    output = "You have two open orders, 5150 and 5151. Shall I cancel both?"
    steps = []
messages = [{"role": "user", "content": prompt}, *steps, {"role": "assistant", "content": output}]
print(json.dumps({"output": output, "messages": messages}))
