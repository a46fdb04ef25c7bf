"""Another mutating webhook, which is asked after ours and does not know it."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.certificates import Authority
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import LOOPBACK

NAME = "zz-rival"
"""The API server asks webhooks in the order of their configurations' names."""

CPU = "/spec/containers/0/resources/requests/cpu"
OPERATIONS: dict[str, list[dict[str, Any]]] = {
    "strips": [{"op": "remove", "path": "/metadata/annotations"}],
    "overwrites": [{"op": "replace", "path": CPU, "value": "700m"}],
}
"""What it does to a pod whose label `rival` says so."""


class Rival(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        labels = request["object"]["metadata"].get("labels", {})
        patch = base64.b64encode(json.dumps(OPERATIONS[labels["rival"]]).encode()).decode()
        response = {
            "uid": request["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": patch,
        }
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base
        """Nothing is logged."""


@contextmanager
def rival(cluster: Cluster, namespace: str, folder: Path) -> Iterator[None]:
    """It is there for pods of *namespace* with a label `rival`."""
    authority = Authority("a rival's own")
    leaf = authority.server(LOOPBACK)
    both = folder / "rival.pem"
    both.write_text(leaf.both)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    server = ThreadingHTTPServer((LOOPBACK, 0), Rival)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"https://{LOOPBACK}:{server.server_address[1]}/"
    bundle = base64.b64encode(authority.certificate.encode()).decode()
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
    }
    hook = {
        "name": "rival.example.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "objectSelector": {"matchExpressions": [{"key": "rival", "operator": "Exists"}]},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    cluster.apply(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": NAME},
            "webhooks": [hook],
        }
    )
    try:
        yield
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", NAME)
        server.shutdown()
        thread.join()
        server.server_close()
