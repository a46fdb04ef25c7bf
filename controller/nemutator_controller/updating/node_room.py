"""Whether what a pod would request is there on a node: pure.

Of all its containers together, because that is what kubelet and the scheduler add up. Init containers and overhead
are not counted: what does not fit without them does not fit with them.
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
    found: dict[ResourceName, Quantity] = {}
    for container in pod.containers:
        for resource in RESOURCES:
            amount = after.get((container.name, resource), container.requests.get(resource))
            if amount is not None:
                found[resource] = found[resource] + amount if resource in found else amount
    return found


def lacking(needs: PodNeeds, room: Mapping[str, Quantity]) -> dict[ResourceName, str]:
    """By resource, what a node with *room* for pods has too little of; of what is not known there is enough."""
    return {
        resource: f"its node has {room[resource]} for pods, not {amount}"
        for resource, amount in needs.items()
        if resource in room and amount > room[resource]
    }
