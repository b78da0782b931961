#!/usr/bin/env python3
"""A model that has one tool called twice, and something happen in between.

    interrupted.py TOOL ARGUMENTS COMMAND...

Speaks chat completions on a free port of the loopback interface and prints its base URL. Its first
answer calls TOOL with ARGUMENTS (JSON); before its second one, which calls it again, COMMAND is run;
the third is a text. Ends when its standard input does.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL, ARGUMENTS, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3:]


def answer(results):
    """The pieces of the answer after so many results of tools."""
    if results == 1:
        subprocess.run(COMMAND, check=False, stdout=subprocess.DEVNULL, stderr=sys.stderr)
    if results < 2:
        function = {"name": TOOL, "arguments": ARGUMENTS}
        call = {"index": 0, "id": f"call-{results}", "type": "function", "function": function}
        return [{"role": "assistant", "tool_calls": [call]}], "tool_calls"
    return [{"role": "assistant", "content": "That was both calls."}], "stop"


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "interrupted", "object": "model"}]}
        self.send("application/json", json.dumps(models).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = sum(message["role"] == "tool" for message in request["messages"])
        deltas, finish = answer(results)
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
        events = [json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [c]}) for c in choices]
        self.send("text/event-stream", "".join(f"data: {e}\n\n" for e in [*events, "[DONE]"]).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
sys.stdin.read()
os._exit(0)
