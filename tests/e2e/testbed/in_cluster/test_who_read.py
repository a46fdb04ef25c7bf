"""Who has read a path of Vault: asked of the brain, which shares a key with all agents."""

import base64
import json
import subprocess
import sys
import time

import msgspec
import pytest
from nemutator_common.path_digests import keys_in, path_digest
from nemutator_common.wire import StreamBatch

from tests.e2e.testbed.in_cluster.installation import Installation, refusals, without
from tests.fakes.grants import grant
from tests.testbed.running.ports import LOOPBACK

PATH = "secret/shop/db"


def asked(installation: Installation, account: str) -> subprocess.CompletedProcess[str]:
    ca_file = installation.directory / "ca.crt"
    published = installation.cluster.get(
        "configmap", "nemutator-ca", f"-n={installation.namespace}"
    )
    ca_file.write_text(published["data"]["ca.crt"])
    return subprocess.run(
        [
            sys.executable, "-m", "nemutator_ctl", "grants", f"--path={PATH}", "--output=json",
            f"--brain=https://{LOOPBACK}:{installation.console}", f"--brain-ca-file={ca_file}",
            "--brain-token-file=/dev/stdin",
        ],
        input=installation.token(account, audience=""),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_one_key_answers_for_all_nodes_who_read_a_path(installation: Installation) -> None:
    secret = installation.cluster.get(
        "secret", "nemutator-audit-key", f"-n={installation.namespace}"
    )
    text = base64.b64decode(secret["data"]["keys"])
    keys = keys_in(text)
    assert keys is not None
    # Each node's agent has that Secret as a file.
    digest = path_digest(keys[0], PATH)
    for number, node in enumerate(installation.nodes):
        pod = f"reading-{number}"
        installation.pod(pod, node, "nemutator-agent")
        read = grant(node=node, pod=pod, at=time.time(), operation="read", path_digest=digest)
        body = msgspec.json.encode(StreamBatch(node, "e-read", 1, (msgspec.to_builtins(read),)))
        token = installation.token("nemutator-agent", pod=pod)
        sent = installation.ask(
            installation.uplink, "/uplink/v1/streams/grants", token=token, body=body
        )
        assert sent.status == 200, sent.body
    shown = asked(installation, "viewer")
    assert shown.returncode == 0, shown.stderr
    found = {(each["node"], each["pod"]) for each in json.loads(shown.stdout)["items"]}
    assert found == {(node, f"reading-{at}") for at, node in enumerate(installation.nodes)}
    print(f"{PATH} was read by {sorted(found)}")
    refused = asked(installation, "stranger")
    assert refused.returncode != 0
    assert "may not get grants.nemutator.io" in refused.stderr
    print(refused.stderr)
    without(text.decode(), installation)
    assert refusals(installation) == []
