"""A pod asks by annotation for a profile, and is told there how it went."""

import json
import time
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from nemutator_common.names import PROFILE, PROFILE_RESULT
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    ProfileOutcome,
    ProfileRequests,
)

from tests.e2e.testbed.in_cluster.installation import Installation, refusals
from tests.fakes.profiles import content
from tests.testbed.running.waiting import until


def outcome(installation: Installation, token: str, said: ProfileOutcome) -> None:
    answer = installation.ask(
        installation.uplink, PROFILES_PATH, token=token, body=msgspec.json.encode(said)
    )
    assert answer.status == 200, answer.body


def annotations(installation: Installation, pod: str) -> dict[str, str]:
    found = installation.cluster.get("pod", pod, f"-n={installation.namespace}")
    return dict(found["metadata"].get("annotations", {}))


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_a_pod_asks_for_a_profile_and_is_told_how_it_went(installation: Installation) -> None:
    cluster, namespace, uplink = installation.cluster, installation.namespace, installation.uplink
    node, other = installation.nodes
    agents = {}
    for name, where in (("agent-p", node), ("agent-q", other)):
        installation.pod(name, where, "nemutator-agent")
        agents[name] = installation.token("nemutator-agent", pod=name)
    uid = installation.pod("web", node, "stranger")

    cluster.kubectl("annotate", "pod", "web", f"-n={namespace}", f"{PROFILE}=cpu 5s at=49hz id=1")
    path = f"{PROFILE_REQUESTS_PATH}?node={node}&wait_s=8"
    forbidden = installation.ask(uplink, path, token=agents["agent-q"])
    assert forbidden.status == 403, "an agent was told of another node's request"
    answer = installation.ask(uplink, path, token=agents["agent-p"])
    [request] = msgspec.json.decode(answer.body, type=ProfileRequests).requests
    assert (request.target.kind, request.target.value) == ("pod", uid)
    assert (request.seconds, request.hz) == (5, 49)
    print(f"the agent of {node} is asked for profile {request.id}")

    def result() -> dict[str, str]:
        said = annotations(installation, "web").get(PROFILE_RESULT)
        return dict(json.loads(said)) if said else {}

    running = ProfileOutcome(id=request.id, node=node, state="running")
    outcome(installation, agents["agent-p"], running)
    until(lambda: result().get("state") == "running", "the pod says that it runs", within_s=60)
    done = ProfileOutcome(
        id=request.id, node=node, state="done", started_at=time.time(), seconds=5.0, hz=49,
        recorded=2, lost={}, cpu_seconds=0.04, pprof=content("main.work", "main.idle"),
    )  # fmt: skip
    outcome(installation, agents["agent-p"], done)
    until(lambda: result().get("state") == "done", "the pod says that it is done", within_s=60)
    assert result()["id"] == request.id
    print(f"{PROFILE_RESULT}: {result()}")
    link = urlsplit(result()["link"])
    viewer = installation.token("viewer", audience="")
    page = installation.ask(installation.console, link.path, token=viewer)
    assert (page.status, b"main.work" in page.body) == (200, True)

    # What cannot be understood is said on the pod and in an Event.
    cluster.kubectl("annotate", "pod", "web", "--overwrite", f"-n={namespace}", f"{PROFILE}=disk")
    until(lambda: result().get("state", "").startswith("refused"), "it is refused", within_s=60)

    def events() -> list[dict[str, Any]]:
        found = cluster.get(
            "events", f"--field-selector=involvedObject.uid={uid}", f"-n={namespace}"
        )
        return [event for event in found["items"] if event["reason"] == "Profile"]

    until(events, "the Event is there", within_s=60)
    [event] = events()
    assert event["type"] == "Warning"
    assert "only `cpu`, `off-cpu` and `heap` can be profiled" in event["message"]
    print(f"Event: {event['message']}")
    assert refusals(installation) == []
