"""Requests as the scheduler counts them (apimachinery's PodRequests)."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.pod_demands import PodDemands, demand_of
from nemutator_controller.kube.objects import Pod


def pod(spec: dict[str, Any], status: dict[str, Any] | None = None) -> Pod:
    manifest = {"metadata": {"name": "p", "uid": "u"}, "spec": spec, "status": status or {}}
    return msgspec.convert(manifest, Pod)


def container(name: str, cpu: int, **more: Any) -> dict[str, Any]:
    amounts = {"cpu": f"{cpu}m", "memory": f"{cpu}Mi"}
    return {"name": name, "resources": {"requests": amounts, "limits": amounts}, **more}


def cpu_of(spec: dict[str, Any], status: dict[str, Any] | None = None) -> int:
    return demand_of(pod(spec, status)).requests.cpu_millis


SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "millis"),
    [
        ({"containers": [container("a", 100), container("b", 50)]}, 150),
        # An init container runs before the others: the larger counts.
        ({"containers": [container("a", 100)], "initContainers": [container("i", 400)]}, 400),
        ({"containers": [container("a", 500)], "initContainers": [container("i", 400)]}, 500),
        # A sidecar runs beside them, and beside the init containers after it.
        (
            {
                "containers": [container("a", 100)],
                "initContainers": [container("s", 30, **SIDECAR)],
            },
            130,
        ),
        (
            {
                "containers": [container("a", 100)],
                "initContainers": [container("s", 30, **SIDECAR), container("i", 200)],
            },
            230,
        ),
        (
            {
                "containers": [container("a", 100)],
                "initContainers": [container("i", 200), container("s", 30, **SIDECAR)],
            },
            200,
        ),
        # What the pod requests as a whole counts instead, and the overhead comes on top.
        ({"containers": [container("a", 100)], "resources": {"requests": {"cpu": "1"}}}, 1000),
        ({"containers": [container("a", 100)], "overhead": {"cpu": "250m"}}, 350),
        ({"containers": [{"name": "a"}]}, 0),
    ],
)
def test_requests_are_those_of_the_scheduler(spec: dict[str, Any], millis: int) -> None:
    assert cpu_of(spec) == millis


def test_a_whole_pods_request_of_one_resource_leaves_the_other() -> None:
    spec = {"containers": [container("a", 100)], "resources": {"requests": {"cpu": "1"}}}
    assert demand_of(pod(spec)).requests == CpuMemory(1000, 100 << 20)
    # Its limits are still those of its containers.
    assert demand_of(pod(spec)).limits == CpuMemory(100, 100 << 20)


def held(cpu: int, *conditions: dict[str, str]) -> dict[str, Any]:
    amounts = {"cpu": f"{cpu}m"}
    status = {"name": "a", "allocatedResources": amounts, "resources": {"requests": amounts}}
    return {"containerStatuses": [status], "conditions": list(conditions)}


def test_while_a_container_is_resized_the_larger_counts() -> None:
    spec = {"containers": [container("a", 100)]}
    assert cpu_of(spec, held(300)) == 300
    assert cpu_of(spec, held(20)) == 100
    infeasible = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    assert cpu_of(spec, held(20, infeasible)) == 20


names = st.sampled_from(("a", "b", "c"))
amount = st.integers(0, 4000)
starting = st.builds(
    lambda name, cpu, sidecar: container(name, cpu, **(SIDECAR if sidecar else {})),
    names,
    amount,
    st.booleans(),
)


@given(st.lists(st.builds(container, names, amount), max_size=4), st.lists(starting, max_size=4))
def test_a_pod_needs_what_runs_together_at_its_worst_moment(
    containers: list[dict[str, Any]], init: list[dict[str, Any]]
) -> None:
    def millis(one: dict[str, Any]) -> int:
        return int(one["resources"]["requests"]["cpu"][:-1])

    moments, running = [0], 0
    for one in init:
        moments.append(running + millis(one))
        if "restartPolicy" in one:
            running += millis(one)
    moments.append(running + sum(map(millis, containers)))
    assert cpu_of({"containers": containers, "initContainers": init}) == max(moments)


def test_pods_that_are_alike_are_counted_once_and_others_are_not_taken_for_them() -> None:
    demands = PodDemands()
    alike = [pod({"containers": [container("a", 100)]}) for _ in range(2)]
    assert demands.of(alike[0]) is demands.of(alike[1])
    assert demands.of(pod({"containers": [container("a", 200)]})).requests.cpu_millis == 200
    resized = pod({"containers": [container("a", 100)]}, held(300))
    assert demands.of(resized).requests.cpu_millis == 300
    assert demands.of(alike[0]).requests.cpu_millis == 100
