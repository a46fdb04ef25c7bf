"""Pods as those who evict them see them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwningWorkload:
    """The owner that makes a new pod for one that ends."""

    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class RestartablePod:
    """A pod that runs, and wants to be made anew when its secrets have changed."""

    namespace: str
    name: str
    uid: str
    node: str
    workload: OwningWorkload | None
    """None: nobody would make another one."""
    is_ready: bool


class NotEvictedError(Exception):
    """It goes on for now; the message says why."""


class NotAllowedNowError(NotEvictedError):
    """A PodDisruptionBudget does not allow it."""


class PodGoneError(Exception):
    """There is nothing to evict any more."""
