"""The API server passes on what is asked of an aggregated API, and says who has asked."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import Authority
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.tls_server import Asked, serving

GROUP = "aggregated.testbed.nemutator.io"
THINGS = f"/apis/{GROUP}/v1/things"
NAME = "things"


@pytest.fixture
def asked(cluster: Cluster, node: Node, namespace: str, tmp_path: Path) -> Iterator[list[Asked]]:
    """An aggregated API that works; what it was asked."""
    seen: list[Asked] = []

    def answer(asked: Asked) -> bytes | None:
        seen.append(asked)
        known = {f"/apis/{GROUP}/v1": _resources(), THINGS: {"kind": "ThingList", "items": []}}
        found = known.get(asked.path.partition("?")[0])
        return None if found is None else json.dumps(found).encode()

    authority = Authority("an aggregated API's own")
    # An endpoint may not be a loopback address; the node's bridge leads nowhere either.
    host = str(node.network.address)
    with serving(authority, answer, tmp_path, host=host, name=f"{NAME}.{namespace}.svc") as port:
        cluster.apply(
            _service(namespace),
            _endpoints(namespace, host, port),
            _api_service(namespace, authority),
        )
        api_service = f"apiservice/v1.{GROUP}"
        cluster.kubectl("wait", api_service, "--for=condition=Available", "--timeout=20s")
        yield seen
        cluster.kubectl("delete", api_service)


def _resources() -> dict[str, Any]:
    thing = {"name": "things", "namespaced": False, "kind": "Thing", "verbs": ["list"]}
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/v1",
        "resources": [thing],
    }


def _service(namespace: str) -> dict[str, Any]:
    """Without a selector: its endpoint is on the machine itself."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"ports": [{"port": 443, "name": "https"}]},
    }


def _endpoints(namespace: str, host: str, port: int) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": NAME,
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": NAME},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
        "ports": [{"port": port, "name": "https", "protocol": "TCP"}],
    }


def _api_service(namespace: str, authority: Authority) -> dict[str, Any]:
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 10,
            "service": {"name": NAME, "namespace": namespace, "port": 443},
            "caBundle": b64encode(authority.certificate.encode()).decode(),
        },
    }


def test_it_is_asked_in_the_name_of_the_caller(cluster: Cluster, asked: list[Asked]) -> None:
    status, body = cluster.ask(THINGS)
    assert (status, json.loads(body)["kind"]) == (200, "ThingList")
    (call,) = [one for one in asked if one.path == THINGS]
    assert call.headers["X-Remote-User"] == "testbed-admin"
    assert call.headers["X-Remote-Group"] == "system:masters"
    assert "Authorization" not in call.headers
