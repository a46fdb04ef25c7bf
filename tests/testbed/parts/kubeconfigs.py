"""Kubeconfigs that hold all they need, so that they can be handed to anybody as one file."""

import json
from base64 import b64encode
from collections.abc import Mapping

from tests.certificates import Leaf


def kubeconfig(url: str, authority: str, client: Leaf) -> str:
    """For *client* at *url*, whose certificate *authority* (PEM) has signed; JSON, which is YAML."""
    return _of_user(url, authority, _user(client))


def token_kubeconfig(url: str, authority: str, token: str) -> str:
    """For whoever has *token*."""
    return _of_user(url, authority, {"token": token})


def _of_user(url: str, authority: str, user: Mapping[str, str]) -> str:
    cluster = {"server": url, "certificate-authority-data": _embedded(authority)}
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


def webhook_kubeconfig(client: Leaf) -> str:
    """What an API server shows to all webhooks: a kubeconfig whose user's name is a pattern."""
    users = [{"name": "*", "user": _user(client)}]
    return json.dumps({"apiVersion": "v1", "kind": "Config", "users": users})


def _user(client: Leaf) -> dict[str, str]:
    return {
        "client-certificate-data": _embedded(client.certificate),
        "client-key-data": _embedded(client.key),
    }


def _embedded(text: str) -> str:
    return b64encode(text.encode()).decode()
