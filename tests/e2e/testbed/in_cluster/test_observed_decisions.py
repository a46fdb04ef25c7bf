"""A decision of admission and the pod that came of it find each other."""

import json

import msgspec
import pytest
from nemutator_common.names import MUTATION
from nemutator_common.wire import StreamBatch
from nemutator_controller.mutations.decisions import Subject

from tests.e2e.testbed.in_cluster.installation import Installation, refusals
from tests.e2e.testbed.workloads import sleeping
from tests.fakes.decisions import decision
from tests.testbed.running.waiting import until


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_a_decision_gets_the_name_of_its_pod_whichever_comes_first(
    installation: Installation,
) -> None:
    cluster, namespace = installation.cluster, installation.namespace
    node = installation.nodes[0]
    installation.pod("admission-m", node, "nemutator-admission")
    admission = installation.token("nemutator-admission", pod="admission-m")
    viewer = installation.token("viewer", audience="")

    def ship(number: int) -> None:
        subject = Subject(
            api_version="v1", kind="Pod", namespace=namespace, name="", generate_name="web-"
        )
        one = msgspec.to_builtins(decision(number, subject=subject))
        body = msgspec.json.encode(StreamBatch("admission-m", "e1", number, (one,)))
        path = "/uplink/v1/streams/decisions"
        answer = installation.ask(installation.uplink, path, token=admission, body=body)
        assert (answer.status, answer.json["seq"]) == (200, number), answer.body

    def born(number: int) -> None:
        pod = sleeping(f"web-{number}", namespace, nodeName=node)
        pod["metadata"]["annotations"] = {MUTATION: json.dumps({"id": f"d{number}"})}
        cluster.apply(pod)

    def states() -> dict[str, tuple[str, str]]:
        found = installation.ask(installation.console, "/api/v1/mutations", token=viewer)
        return {
            item["id"]: (item["state"], item["subject"]["name"]) for item in found.json["items"]
        }

    ship(1)
    assert states() == {"d1": ("answered", "")}
    born(1)
    born(2)
    until(lambda: states()["d1"] == ("observed", "web-1"), "d1 is seen", within_s=60)
    ship(2)
    until(lambda: states()["d2"] == ("observed", "web-2"), "d2 is seen", within_s=60)
    print(states())
    assert refusals(installation) == []
