"""Whether what a pod would request is there on a node: pure.

Of all its containers and sidecars together, because that is what the API server, kubelet and the scheduler add up: the
API server refuses a resize beyond what the node has for pods.
"""

from collections.abc import Iterable, Mapping

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.updating.records import RESOURCES, GivenAmount, ResourceName, SizedPod

PodNeeds = Mapping[ResourceName, Quantity]


def needs_of(pod: SizedPod, changes: Iterable[GivenAmount] = ()) -> PodNeeds:
    """What it requests once these are made; a resource that no container requests is absent."""
    after = {
        (each.container, each.resource): each.after for each in changes if each.side == "requests"
    }
    running = [
        {
            resource: amount
            for resource in RESOURCES
            if (amount := after.get((one.name, resource), one.requests.get(resource))) is not None
        }
        for one in pod.containers
    ]
    return larger(added(*running, pod.beside), pod.starting)


def added(*parts: PodNeeds) -> dict[ResourceName, Quantity]:
    found: dict[ResourceName, Quantity] = {}
    for part in parts:
        for resource, amount in part.items():
            found[resource] = found[resource] + amount if resource in found else amount
    return found


def larger(*parts: PodNeeds) -> dict[ResourceName, Quantity]:
    """Of each resource the most that one of *parts* needs."""
    found: dict[ResourceName, Quantity] = {}
    for part in parts:
        for resource, amount in part.items():
            found[resource] = max(found.get(resource, amount), amount)
    return found


def lacking(needs: PodNeeds, room: Mapping[str, Quantity]) -> dict[ResourceName, str]:
    """By resource, what a node with *room* for pods has too little of; of what is not known there is enough."""
    return {
        resource: f"its node has {room[resource]} for pods, not {amount}"
        for resource, amount in needs.items()
        if resource in room and amount > room[resource]
    }
