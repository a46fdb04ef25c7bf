"""What a pod requests and may use, as the scheduler counts it.

Containers run together, so their requests add up; init containers run one after another before them, beside
the sidecars that were started already; the larger of both counts. What a pod requests as a whole counts instead
of its containers' sum, and what its RuntimeClass adds comes on top. While a container is resized, the largest
of what it wants, what kubelet has reserved and what it runs with counts.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from nemutator_controller.inventory.amounts import NOTHING, CpuMemory, cpu_memory
from nemutator_controller.kube.objects import (
    NO_RESOURCES,
    Container,
    ContainerStatus,
    Pod,
    Resources,
)


class PodDemand(msgspec.Struct, frozen=True, gc=False):
    requests: CpuMemory
    limits: CpuMemory
    """The sum of the limits that there are. What has none may use its node."""


class PodDemands:
    """Counts pods; those that are alike once. Equal parts of pods are the same object, as informers keep them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Pod, PodDemand]] = {}
        """With a pod of each kind, so that the identities of its parts stay what they are."""

    def of(self, pod: Pod) -> PodDemand:
        key = _identity(pod)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (pod, demand_of(pod))
        return known[1]


def demand_of(pod: Pod) -> PodDemand:
    statuses = {
        each.name: each
        for each in (*pod.status.container_statuses, *pod.status.init_container_statuses)
    }
    is_infeasible = _is_infeasible(pod)

    def requests(container: Container) -> CpuMemory:
        wanted = cpu_memory(container.resources.requests)
        status = statuses.get(container.name)
        return wanted if status is None else _in_resize(wanted, status, is_infeasible)

    return PodDemand(
        _counted(pod, requests, lambda each: cpu_memory(each.resources.requests), _requests),
        _counted(
            pod,
            lambda each: cpu_memory(each.resources.limits),
            lambda each: cpu_memory(each.resources.limits),
            _limits,
        ),
    )


def _counted(
    pod: Pod,
    of_running: Callable[[Container], CpuMemory],
    of_starting: Callable[[Container], CpuMemory],
    part: Callable[[Resources], Mapping[str, str]],
) -> CpuMemory:
    spec = pod.spec
    together = _sum(of_running(each) for each in spec.containers)
    sidecars, starting = NOTHING, NOTHING
    for each in spec.init_containers:
        if each.is_sidecar:
            sidecars += of_running(each)
            starting = starting.at_least(sidecars)
        else:
            starting = starting.at_least(of_starting(each) + sidecars)
    counted = (together + sidecars).at_least(starting)
    whole = part(spec.resources)
    if whole:
        own = cpu_memory(whole)
        counted = CpuMemory(
            own.cpu_millis if "cpu" in whole else counted.cpu_millis,
            own.memory_bytes if "memory" in whole else counted.memory_bytes,
        )
    return counted + cpu_memory(spec.overhead)


def _in_resize(wanted: CpuMemory, status: ContainerStatus, is_infeasible: bool) -> CpuMemory:
    if not status.resources.requests and not status.allocated_resources:
        return wanted
    held = cpu_memory(status.resources.requests).at_least(cpu_memory(status.allocated_resources))
    return held if is_infeasible else wanted.at_least(held)


def _is_infeasible(pod: Pod) -> bool:
    """Whether kubelet will not give it what its spec says by now."""
    return any(
        each.type == "PodResizePending" and each.reason == "Infeasible"
        for each in pod.status.conditions
    )


def _sum(amounts: Iterable[CpuMemory]) -> CpuMemory:
    total = NOTHING
    for each in amounts:
        total += each
    return total


def _requests(resources: Resources) -> Mapping[str, str]:
    return resources.requests


def _limits(resources: Resources) -> Mapping[str, str]:
    return resources.limits


def _identity(pod: Pod) -> tuple[int, ...]:
    spec, status = pod.spec, pod.status
    starting = spec.init_containers
    # The conditions say whether a resize cannot be done.
    parts: tuple[int, ...] = (
        id(spec.containers),
        id(spec.resources),
        id(status.conditions),
    )
    if starting or spec.overhead:
        parts += (id(starting) if starting else 0, id(spec.overhead) if spec.overhead else 0)
    for statuses in (status.container_statuses, status.init_container_statuses):
        for each in statuses:
            if each.allocated_resources or each.resources is not NO_RESOURCES:
                parts += (id(each.name), id(each.resources), id(each.allocated_resources))
    return parts
