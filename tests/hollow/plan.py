"""What a hollow fleet consists of: the same nodes, workloads and pods for the same seed."""

import ipaddress
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tests.hollow.shapes import Shape, drawn

Json = dict[str, Any]

LABEL: Final = "hollow.test/fleet"
"""On everything of a fleet; its value is the fleet's name."""

LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Kubernetes' own for generated names: no word comes about."""

SUFFIXES: Final = len(LETTERS) ** 5

NODE_ADDRESSES: Final = ipaddress.IPv4Network("198.18.0.0/15")
"""For benchmarks (RFC 2544): nobody's host, should somebody call."""

POD_ADDRESSES: Final = ipaddress.IPv4Network("100.64.0.0/10")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many of what. *name* tells fleets on one server apart and begins all their names."""

    nodes: int
    pods: int
    name: str = "hollow"
    namespaces: int = 4
    largest_workload: int = 40
    """Pods of one ReplicaSet, at most."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?", self.name):
            raise ValueError(f"{self.name!r}: a fleet's name is a short DNS label")
        if min(self.nodes, self.namespaces, self.largest_workload) < 1 or self.pods < 0:
            raise ValueError("a fleet has a node, a namespace and room in its workloads")

    @property
    def labels(self) -> dict[str, str]:
        return {LABEL: self.name}

    @cached_property
    def namespace_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}-{number:03d}" for number in range(self.namespaces))

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}-node-{number:05d}" for number in range(self.nodes))

    @cached_property
    def workloads(self) -> tuple["Workload", ...]:
        """Of many sizes, together as many pods as are wanted."""
        found: list[Workload] = []
        planned = 0
        while planned < self.pods:
            dice = random.Random(f"{self.seed}/workload/{len(found)}")
            # Most workloads are small, and most pods are in large ones.
            size = max(1, round(self.largest_workload * dice.random() ** 2))
            size = min(size, self.pods - planned)
            namespace = dice.choice(self.namespace_names)
            found.append(Workload(self, len(found), namespace, planned, size, drawn(dice)))
            planned += size
        return tuple(found)

    def lives(self) -> Iterator["Life"]:
        """The first pod of each seat."""
        for workload in self.workloads:
            yield from (Life(workload, seat) for seat in range(workload.replicas))


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment with its one ReplicaSet."""

    plan: Plan
    number: int
    namespace: str
    before: int
    """Pods of the workloads before this one."""
    replicas: int
    shape: Shape

    @property
    def name(self) -> str:
        return f"{self.shape.app}-{self.number}"

    @property
    def template_hash(self) -> str:
        return random_looking(self.number + 1, self.plan.seed)

    @property
    def replica_set_name(self) -> str:
        return f"{self.name}-{self.template_hash}"

    @property
    def selector(self) -> dict[str, str]:
        return {"app.kubernetes.io/name": self.shape.app, "app.kubernetes.io/instance": self.name}


@dataclass(frozen=True, slots=True)
class Life:
    """One pod. When it ends, the next one on its *seat* takes its place on another node."""

    workload: Workload
    seat: int
    number: int = 0

    @property
    def name(self) -> str:
        lived = self.number * self.workload.replicas + self.seat
        return f"{self.workload.replica_set_name}-{random_looking(lived, self.workload.number)}"

    @property
    def next(self) -> "Life":
        return Life(self.workload, self.seat, self.number + 1)

    @property
    def node(self) -> int:
        """Its number."""
        return (self.workload.before + self.seat + self.number) % self.workload.plan.nodes

    @property
    def address(self) -> str:
        plan = self.workload.plan
        number = self.workload.before + self.seat + self.number * plan.pods
        return str(POD_ADDRESSES[1 + number % (POD_ADDRESSES.num_addresses - 2)])


def node_address(number: int) -> str:
    return str(NODE_ADDRESSES[1 + number % (NODE_ADDRESSES.num_addresses - 2)])


def random_looking(number: int, salt: int) -> str:
    """Five letters, others for each *number* below 14 million."""
    # A factor that shares no divisor with 27 to the 5th makes of each number another one.
    rest = (number * 5_915_587 + salt * 7_368_787) % SUFFIXES
    letters = []
    for _ in range(5):
        rest, which = divmod(rest, len(LETTERS))
        letters.append(LETTERS[which])
    return "".join(letters)
