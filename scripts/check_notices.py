"""Has a server tell people, over STARTTLS and by webhook; scripts/check-notices installs what it takes.

usage: check_notices.py JURIST
"""

import http.server
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import standardwebhooks
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

PASSWORD = "mail-password-4711"
jurist = os.path.abspath(sys.argv[1])


def need(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def wait(what, message, seconds=240):
    until = time.time() + seconds
    while not what():
        need(time.time() < until, message)
        time.sleep(0.1)


class Mailbox:
    def __init__(self):
        self.mails = []

    async def handle_DATA(self, server, session, envelope):
        need(session.ssl, "a mail came over a connection that is not secret")
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.content.decode()))
        return "250 kept"


def authenticator(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"jurist", PASSWORD.encode())
    return AuthResult(success=good)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Away until told otherwise."""

    is_away = True
    heard = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(503 if Receiver.is_away else 204)
        self.end_headers()
        Receiver.heard.append((Receiver.is_away, body.decode(), dict(self.headers)))

    def log_message(self, *_):
        pass


def serve(folder):
    """A server, and its address."""
    command = [jurist, "serve", "--address", "127.0.0.1:0", "--allow-private-network", "--workers", "2", "--lease", "2", "--trust-settings"]
    env = {"PATH": os.environ["PATH"], "SMTP_PASSWORD": PASSWORD, "JURIST_SECRET": "a random key for this check"}
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    return process, re.search(r"http://[\w.:]+", process.stdout.readline()).group(0)


def ask(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


with tempfile.TemporaryDirectory() as folder:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(f"{folder}/ca.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    mailbox = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mail = Controller(
        mailbox, hostname="127.0.0.1", port=port, tls_context=tls, require_starttls=True,
        auth_required=True, authenticator=authenticator,
    )
    mail.start()
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=hook.serve_forever, daemon=True).start()

    os.mkdir(f"{folder}/.jurist")
    with open(f"{folder}/.jurist/config.yaml", "w") as config:
        config.write(
            f"network: {{ca: {folder}/ca.pem}}\n"
            f"mail: {{host: localhost, port: {port}, user: jurist, password: SMTP_PASSWORD, "
            "from: 'Jurist <jurist@example.org>'}\n"
        )
    server, url = serve(folder)
    address = f"http://127.0.0.1:{hook.server_port}/hook"
    settings = ask("PATCH", f"{url}/api/v1/notifications", {"mail": ["ann@example.org"], "webhook": address})
    secret = settings["webhook"]["secret"]
    ask("POST", f"{url}/api/v1/notifications/try")
    wait(lambda: mailbox.mails, "no mail came")
    sender, recipients, text = mailbox.mails[0]
    need((sender, recipients) == ("jurist@example.org", ["ann@example.org"]), f"{sender} to {recipients}")
    need("Subject: [Jurist] default: this is a test notification" in text, text)
    print("a mail came over STARTTLS, from somebody who knows the password")

    # The receiver is away, and the server is killed: what it owes is still told.
    wait(lambda: Receiver.heard, "the webhook was never tried")
    server.send_signal(signal.SIGKILL)
    server.wait()
    Receiver.is_away = False
    server, url = serve(folder)
    wait(lambda: any(not away for away, *_ in Receiver.heard), "the webhook was not told after the kill")
    ids = set()
    for _, body, headers in Receiver.heard:
        told = standardwebhooks.Webhook(secret).verify(body, {name.lower(): it for name, it in headers.items()})
        need(told["type"] == "trial", body)
        ids.add({name.lower(): it for name, it in headers.items()}["webhook-id"])
    need(len(ids) == 1, f"one notice has several ids: {ids}")
    try:
        _, body, headers = Receiver.heard[0]
        standardwebhooks.Webhook(secret).verify(body.replace("trial", "trail"), {n.lower(): v for n, v in headers.items()})
        sys.exit("FAILED: a forged webhook was believed")
    except standardwebhooks.WebhookVerificationError:
        pass
    print(f"the webhook was heard after {len(Receiver.heard)} tries and a kill, each signed")
    server.terminate()
    server.wait()
    mail.stop()
