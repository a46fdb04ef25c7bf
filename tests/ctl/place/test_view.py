from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.placement.documents import placement_document
from nemutator_controller.placement.scores import explained
from nemutator_ctl.place.view import decode, details, first_pod, overview, pod_in

from tests.controller.placement.nodes import POD, WEB, node, snapshot


def answer() -> Any:
    found = snapshot(
        node("good", used_cores=4.0), node("hot", used_cores=7.9), familiars={WEB: {"hot": 3}}
    )
    return msgspec.json.decode(
        msgspec.json.encode(placement_document(found, POD, explained(found, POD), now=3.0))
    )


def test_nodes_are_listed_with_what_says_most_for_and_against_them() -> None:
    lines = overview(decode(answer())).splitlines()
    assert lines[1].split()[0] == "good"
    assert "with it 105 % of its CPU would be in use" in lines[2]
    assert lines[-1].startswith("of 2 nodes, as they were 3 s ago")
    seasonal = overview(decode(answer() | {"season": "peak"}))
    assert "\nits season is peak; of 2 nodes" in seasonal


def test_every_factor_is_explained() -> None:
    text = details(decode(answer()))
    assert "hot:" in text
    assert "3 pods of its workload are there" in text


def test_without_nodes_it_says_so() -> None:
    empty = answer() | {"items": []}
    assert overview(decode(empty)) == details(decode(empty)) == "there is no node\n"
    with pytest.raises(OperatorError):
        decode({"items": 1})


def test_a_workload_is_the_pod_that_it_makes() -> None:
    made = {"containers": [{"name": "app"}]}
    pod = {"kind": "Pod", "metadata": {"name": "a"}, "spec": made}
    assert pod_in(pod, namespace="x") == {
        "metadata": {"name": "a", "namespace": "x"},
        "spec": made,
    }
    template = {"template": {"spec": made}}
    deployment = {
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": template,
    }
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    assert pod_in(deployment, namespace="x") == {
        "metadata": {"namespace": "shop", "ownerReferences": [owner]},
        "spec": made,
    }
    job = {"kind": "CronJob", "metadata": {}, "spec": {"jobTemplate": {"spec": template}}}
    found = pod_in(job, namespace="x")
    assert found is not None
    assert found["spec"] == made
    for other in (
        None,
        3,
        {},
        {"kind": "ConfigMap"},
        {"kind": "Deployment", "spec": {"template": 3}},
    ):
        assert pod_in(other, namespace="x") is None


def test_the_first_pod_in_a_list_is_found() -> None:
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {}}
    pod = {"kind": "Pod", "metadata": {"name": "web-1"}, "spec": {"containers": []}}
    wanted = {"metadata": {"name": "web-1", "namespace": "shop"}, "spec": {"containers": []}}
    inner = {"kind": "List", "items": [service, pod]}
    assert first_pod([{"kind": "List", "items": [service, inner]}], namespace="shop") == wanted
    typed = {"kind": "PodList", "items": [{key: pod[key] for key in ("metadata", "spec")}]}
    assert first_pod([service, typed], namespace="shop") == wanted
    without: list[Any] = [{"kind": "List", "items": None}, {"kind": "List", "items": ["x", 3]}, 7]
    for nothing in without:
        assert first_pod([nothing], namespace="shop") is None
