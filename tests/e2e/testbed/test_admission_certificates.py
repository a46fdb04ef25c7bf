"""Whom admission answers: with a client authority, the API server and nobody else."""

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.e2e.testbed.webhook import Webhook, create, define, pod, policy, standing
from tests.fakes.admission_reviews import review
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import LOOPBACK


@pytest.fixture(scope="module")
def certified(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    define(cluster)
    with standing(cluster, tmp_path_factory.mktemp("certified"), certified=True) as hook:
        yield hook


def posted(hook: Webhook, shown: Path | None) -> int:
    """The status that a caller gets for a question; an OSError or HTTPException when it gets none."""
    context = ssl.create_default_context(cadata=hook.authority.certificate)
    if shown is not None:
        context.load_cert_chain(shown)
    connection = HTTPSConnection(LOOPBACK, hook.port, timeout=60, context=context)
    with closing(connection):
        connection.request("POST", "/mutate/namespaces", body=json.dumps(review(pod())))
        return connection.getresponse().status


def test_the_api_server_shows_its_certificate_and_is_answered(
    certified: Webhook, namespace: str
) -> None:
    certified.until_called(namespace)
    certified.cluster.apply(policy("team", namespace, {"labels": {"set": {"team": "a"}}}))
    certified.until_known(namespace, "team")
    made = create(certified.cluster, namespace, pod())
    assert made["metadata"]["labels"]["team"] == "a"
    assert len(certified.decisions_in(namespace)) == 1
    certified.cluster.kubectl("delete", "mutationpolicy", "team")


def test_a_caller_without_such_a_certificate_forges_nothing(
    certified: Webhook, tmp_path: Path
) -> None:
    before = certified.decisions()
    with pytest.raises((OSError, HTTPException)):
        posted(certified, None)
    stranger = tmp_path / "stranger.pem"
    stranger.write_text(Authority("a stranger").client("system:apiserver").both)
    with pytest.raises((OSError, HTTPException)):
        posted(certified, stranger)
    another = tmp_path / "another.pem"
    another.write_text(certified.cluster.front_proxy.client("another").both)
    assert posted(certified, another) == 403
    assert certified.decisions() == before
    assert certified.shown is not None
    assert posted(certified, certified.shown) == 200


def test_a_process_without_a_certificate_says_what_to_mend(tmp_path: Path) -> None:
    ran = subprocess.run(
        [
            sys.executable, "-m", "nemutator_controller", "admission",
            f"--data-dir={tmp_path / 'data'}", f"--tls-certificate={tmp_path / 'none'}",
            f"--tls-key={tmp_path / 'none'}", f"--address={LOOPBACK}:0",
        ],
        env={"PATH": os.defpath, "KUBERNETES_SERVICE_HOST": LOOPBACK},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 3
    assert "cannot use the certificate" in ran.stderr
