"""What keeps a pod where it is: what the cluster autoscaler, or only the scheduler, could tell."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.objects import Metadata
from nemutator_controller.kube.workload_objects import (
    BudgetSelector,
    DisruptionBudget,
    DisruptionBudgetSpec,
    DisruptionBudgetStatus,
)
from nemutator_controller.packing.model import PackingUnknownError, PackPod
from nemutator_controller.packing.pods import LARGEST_BYTES, SAFE, SAFE_VOLUMES, pods_in

OWNED = [{"kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}]
KNOWN = {"u": (100, 1 << 20)}


def pod(metadata: Any = None, spec: Any = None, **status: Any) -> dict[str, Any]:
    meta = {"name": "web", "namespace": "shop", "uid": "u", "ownerReferences": OWNED}
    return {"metadata": {**meta, **(metadata or {})}, "spec": spec or {}, "status": status}


def read(*pods: Any, budgets: Any = (), known: Any = None) -> tuple[PackPod, ...]:
    body = json.dumps({"kind": "PodList", "items": pods}).encode()
    return pods_in(body, KNOWN if known is None else known, budgets, own_namespace="nemutator")


def why(*given: Any, **others: Any) -> str:
    [found] = read(pod(*given), **others)
    return found.stays or found.waits


def volumes(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


def budget(allowed: int, namespace: str = "shop", **labels: str) -> DisruptionBudget:
    return DisruptionBudget(
        metadata=Metadata(name="pdb", namespace=namespace),
        spec=DisruptionBudgetSpec(selector=BudgetSelector(match_labels=labels)),
        status=DisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def test_a_plain_pod_may_go_with_what_it_requests() -> None:
    [found] = read(pod({"labels": {"a": "b"}}, {"nodeSelector": {"zone": "a"}}))
    assert (found.stays, found.goes_along, found.gives_way) == ("", False, False)
    assert (found.cpu_millis, found.memory_bytes) == KNOWN["u"]
    assert found.node_selector == {"zone": "a"}


def test_a_pod_without_limits_may_use_what_it_requests_for_all_that_is_known() -> None:
    body = json.dumps({"kind": "PodList", "items": [pod()]}).encode()
    limited = pods_in(body, KNOWN, (), own_namespace="nemutator", limits={"u": (400, 2 << 20)})
    assert [(one.limit_cpu, one.limit_memory) for one in limited] == [(400, 2 << 20)]
    assert [(one.limit_cpu, one.limit_memory) for one in read(pod())] == [KNOWN["u"]]


@pytest.mark.parametrize(
    ("metadata", "spec", "reason"),
    [
        ({"ownerReferences": []}, {}, "nobody would make another one"),
        ({"ownerReferences": [{**OWNED[0], "kind": "Job"}]}, {}, "it belongs to a Job"),
        ({"annotations": {SAFE: "false"}}, {}, SAFE),
        ({"namespace": "kube-system"}, {}, "it is of kube-system"),
        ({"namespace": "nemutator"}, {}, "it is nemutator's own"),
        ({}, volumes(emptyDir={}), "its volume v is local"),
        ({}, volumes(hostPath={"path": "/x"}), "its volume v is local"),
        ({}, volumes(persistentVolumeClaim={"claimName": "c"}), "its volume v may not follow it"),
        ({}, {"hostNetwork": True}, "it needs a port of its node"),
        ({}, {"containers": [{"ports": [{"hostPort": 80}]}]}, "it needs a port of its node"),
        (
            {},
            {"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]},
            "it has to be spread",
        ),
        (
            {},
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{}]
                        }
                    }
                }
            },
            "it has required affinity",
        ),
    ],
)
def test_each_reason_to_stay_is_said(metadata: Any, spec: Any, reason: str) -> None:
    assert why(metadata, spec).startswith(reason)


@pytest.mark.parametrize(
    ("metadata", "spec"),
    [
        ({"annotations": {SAFE: "true"}}, volumes(emptyDir={})),
        ({"annotations": {SAFE_VOLUMES: "x, v"}}, volumes(emptyDir={})),
        ({"annotations": {SAFE: "true"}, "namespace": "kube-system"}, {}),
        ({}, volumes(emptyDir={"medium": "Memory"})),
        ({}, volumes(configMap={"name": "c"})),
        ({}, {"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}),
        (
            {},
            {
                "affinity": {
                    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}
                }
            },
        ),
    ],
)
def test_what_is_no_reason_keeps_nobody(metadata: Any, spec: Any) -> None:
    assert why(metadata, spec) == ""


def test_a_budget_that_lets_none_go_keeps_its_pods_alone() -> None:
    labels = {"labels": {"app": "web"}}
    assert why(labels, budgets=[budget(0, app="web")]).startswith("the PodDisruptionBudget pdb")
    assert why(labels, budgets=[budget(1, app="web"), budget(0, app="db")]) == ""
    assert why(labels, budgets=[budget(0, "bank", app="web")]) == ""


def test_what_is_on_each_node_goes_along() -> None:
    daemon = pod({"ownerReferences": [{**OWNED[0], "kind": "DaemonSet"}]}, volumes(hostPath={}))
    mirror = pod({"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": []})
    assert all(one.goes_along for one in read(daemon, mirror))


def test_room_that_is_kept_free_gives_way() -> None:
    labels = {"app.kubernetes.io/component": "buffer"}
    [found] = read(pod({"namespace": "nemutator", "labels": labels}))
    assert (found.gives_way, found.stays) == (True, "")
    [copied] = read(pod({"labels": labels}))
    assert not copied.gives_way


def test_what_has_ended_is_not_there() -> None:
    going = pod({"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert read(pod(phase="Succeeded"), pod(phase="Failed"), going) == ()


def test_a_pod_whose_requests_are_not_known_yet_stays() -> None:
    assert why(known={}) == "what it requests is not known yet"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"items":3}', b'{"items":[{"metadata":3}]}'])
def test_what_is_no_list_of_pods_is_not_known(body: bytes) -> None:
    with pytest.raises(PackingUnknownError):
        pods_in(body, {}, (), own_namespace="n")


def test_a_list_without_end_is_not_read() -> None:
    with pytest.raises(PackingUnknownError):
        pods_in(b" " * (LARGEST_BYTES + 1), {}, (), own_namespace="n")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["affinity", "volumes", "nodeAffinity", "emptyDir", "name"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
def test_no_manifest_of_a_stranger_breaks_the_plan(spec: Any) -> None:
    try:
        read(pod({}, spec if isinstance(spec, dict) else {"affinity": spec}))
    except PackingUnknownError:
        return
