"""How a request can end, and what is left alone before anybody looks at it."""

from dataclasses import dataclass
from typing import Literal

from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.injection import Injector

NEVER = frozenset({"kube-system", "kube-node-lease"})
"""Namespaces that the cluster itself needs to live."""

ANSWER_S = 2.0
"""The time that the disk may take. The server waits three seconds in all, then decides without us."""

Result = Literal["patched", "unchanged", "preview", "dry_run", "denied", "failed"]


class FailedError(Exception):
    """The object is left unchanged: `reason` is for the metric, the text for who creates it."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Rules:
    own_namespace: str
    injector: Injector | None
    strict: bool
    """Whether a record is on the disk before its response is sent."""

    def leaves_alone(self, namespace: str) -> bool:
        return namespace in NEVER or namespace == self.own_namespace


def called(subject: Subject) -> str:
    return f"{subject.namespace}/{subject.name or f'{subject.generate_name}…'}"
