"""Who may call the uplink, and for whom they speak there."""

import time
from dataclasses import replace

import msgspec
import pytest
from nemutator_common.wire import StreamBatch

from tests.e2e.testbed.in_cluster.installation import (
    REPORTS,
    Installation,
    refusals,
    reports,
    without,
)
from tests.fakes.batches import workload
from tests.fakes.grants import grant
from tests.testbed.running.waiting import until


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_an_agent_speaks_for_its_node_and_for_no_pod_of_another(installation: Installation) -> None:
    uplink, console = installation.uplink, installation.console
    here, there = installation.nodes
    uid = installation.pod("agent-a", here, "nemutator-agent")
    other_uid = installation.pod("agent-b", there, "nemutator-agent")
    agent = installation.token("nemutator-agent", pod="agent-a")
    pods = [
        replace(workload(f"/kubepods/pod{one}"), kind="pod", pod_uid=one)
        for one in (uid, other_uid)
    ]
    accepted = installation.ask(uplink, REPORTS, token=agent, body=reports(here, *pods))
    assert (accepted.status, accepted.json["seq"]) == (200, 1)

    def believed() -> bool:
        again = installation.ask(uplink, REPORTS, token=agent, body=reports(here, *pods))
        assert again.status == 200, again.body
        return installation.counted('nemutator_tokens_judged_total{how="signed"}') >= 1

    until(believed, "the agent is known by its signature, once its pod is seen", within_s=60)
    refused = installation.ask(uplink, REPORTS, token=agent, body=reports(there))
    assert refused.status == 403, refused.body
    strangers = {
        "wrong audience": installation.token("nemutator-agent", pod="agent-a", audience="vault"),
        "for the API server": installation.token("nemutator-agent", pod="agent-a", audience=""),
        "bound to no pod": installation.token("nemutator-agent"),
        "another account": installation.token("stranger"),
        "made up": "e30.e30.c2ln",
        "no token": "",
    }
    for why, token in strangers.items():
        answer = installation.ask(uplink, REPORTS, token=token, body=reports(here))
        assert answer.status == 401, (why, answer.body)
        print(f"uplink refuses {why}: {answer.status}")
    for path in ("/api/v1/topology", "/uplink/v1/advice", "/uplink/v1/tombstones"):
        assert installation.ask(uplink, path, token=agent).status == 403, path
    granted = msgspec.to_builtins(grant(node=here, at=time.time(), expires_at=time.time() + 3600))
    records = msgspec.json.encode(StreamBatch(here, "e1", 1, (granted,)))
    assert (
        installation.ask(uplink, "/uplink/v1/streams/grants", token=agent, body=records).status
        == 200
    )
    forged = msgspec.json.encode(StreamBatch(there, "e1", 1, (granted,)))
    assert (
        installation.ask(uplink, "/uplink/v1/streams/grants", token=agent, body=forged).status
        == 403
    )

    viewer = installation.token("viewer", audience="")
    shown = installation.ask(console, f"/api/v1/topology?node={here}", token=viewer)
    assert shown.status == 200, shown.body
    [node] = shown.json["nodes"]
    mine, foreign = node["workloads"]
    assert (mine["name"], mine["namespace"]) == ("agent-a", installation.namespace)
    assert mine["labels"]["owner"] == "Pod/agent-a"
    assert foreign["labels"].get("owner") is None, "a node spoke for another's pod"
    leases = installation.ask(console, "/api/v1/leases", token=viewer)
    assert [lease["role"] for lease in leases.json["items"]] == ["shop.web"]
    assert refusals(installation) == []
    without(agent, installation)


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_admission_reads_snapshots_and_speaks_for_no_node(installation: Installation) -> None:
    uplink, here = installation.uplink, installation.nodes[0]
    installation.pod("admission-1", here, "nemutator-admission")
    admission = installation.token("nemutator-admission", pod="admission-1")
    assert installation.ask(uplink, "/uplink/v1/advice", token=admission).status == 200
    assert installation.ask(uplink, REPORTS, token=admission, body=reports(here)).status == 403
    without(admission, installation)


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_a_deleted_pods_token_opens_nothing(installation: Installation) -> None:
    node = installation.nodes[0]
    installation.pod("agent-c", node, "nemutator-agent")
    token = installation.token("nemutator-agent", pod="agent-c")
    installation.cluster.kubectl(
        "delete", "pod", "agent-c", "--force", "--grace-period=0", f"-n={installation.namespace}"
    )
    answer = installation.ask(installation.uplink, REPORTS, token=token, body=reports(node))
    assert answer.status == 401
