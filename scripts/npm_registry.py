"""A registry of npm that holds the packages of one folder, for tests: `npm` and `npx` work as with the public one."""

import base64
import hashlib
import http.server
import json
import tarfile
import threading
import urllib.parse


def read_manifest(file):
    with tarfile.open(file) as tar:
        return json.load(tar.extractfile("package/package.json"))


class NpmRegistry:
    """Serves until it is closed. A package of another platform has a manifest without a file, which npm never fetches."""

    def __init__(self, folder):
        self.packages = {}
        for file in sorted(folder.glob("*.tgz")):
            manifest = read_manifest(file)
            self.packages[manifest["name"]] = {"manifest": manifest, "file": file}
        for name, version in self.packages["jurist"]["manifest"]["optionalDependencies"].items():
            self.packages.setdefault(name, {"manifest": {"name": name, "version": version, "os": ["none"]}, "file": None})
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        name = urllib.parse.unquote(request.path.lstrip("/"))
        if name.startswith("-/"):
            package = next((package for package in self.packages.values() if package["file"] and package["file"].name == name[2:]), None)
            body = package["file"].read_bytes() if package else None
        else:
            body = self.describe(self.packages[name]) if name in self.packages else None
        request.send_response(404 if body is None else 200)
        request.send_header("Content-Length", str(len(body or b"")))
        request.end_headers()
        request.wfile.write(body or b"")

    def describe(self, package):
        manifest = dict(package["manifest"])
        file = package["file"]
        name = file.name if file else "none.tgz"
        digest = hashlib.sha512(file.read_bytes() if file else b"").digest()
        manifest["dist"] = {"tarball": f"{self.url}/-/{name}", "integrity": f"sha512-{base64.b64encode(digest).decode()}"}
        version = manifest["version"]
        return json.dumps({"name": manifest["name"], "dist-tags": {"latest": version}, "versions": {version: manifest}}).encode()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
