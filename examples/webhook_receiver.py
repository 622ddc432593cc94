"""A receiver of Kontor's webhooks, in its smallest form; how gaps are closed: docs/guides/webhooks.md.

It registers itself with the admin client of the demo, and prints what it is told until Ctrl-C. Start
`./dev demo --allow-loopback`, then: .venv/bin/python examples/webhook_receiver.py .kontor/demo.json
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kontor_client import ApiError, Kontor, SignatureError, verify_webhook

with open(sys.argv[1], encoding="utf-8") as file:
    demo = json.load(file)
tenant = demo["tenants"][0]
admin = tenant["adminClient"]


class Receiver(BaseHTTPRequestHandler):
    secret = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            told = verify_webhook(self.secret, dict(self.headers), body)
        except SignatureError:
            self.send_response(401)
        else:
            print(told.serial, told.type, told.access.id if told.access else "", flush=True)
            self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
with Kontor.login_client(demo["baseUrl"], admin["username"], admin["password"]) as kontor:
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        webhook = kontor.create_webhook(tenant["name"], address, description="an example")
    except ApiError as error:
        sys.exit(f"Kontor refuses {address}: {error.text}\nStart the demo with: ./dev demo --allow-loopback")
    Receiver.secret = webhook.secret or ""
    print("listening", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        kontor.delete_webhook(tenant["name"], webhook.id)
