"""Kubeconfigs that hold all they need, so that they can be handed to anybody as one file."""

import json
from base64 import b64encode

from tests.certificates import Leaf


def kubeconfig(url: str, authority: str, client: Leaf) -> str:
    """For *client* at *url*, whose certificate *authority* (PEM) has signed; JSON, which is YAML."""
    cluster = {"server": url, "certificate-authority-data": _embedded(authority)}
    user = {
        "client-certificate-data": _embedded(client.certificate),
        "client-key-data": _embedded(client.key),
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": cluster}],
            "users": [{"name": "testbed", "user": user}],
            "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "testbed"}}],
            "current-context": "testbed",
        }
    )


def _embedded(text: str) -> str:
    return b64encode(text.encode()).decode()
