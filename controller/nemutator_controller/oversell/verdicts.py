"""What was decided of each node, and why: data only."""

from dataclasses import dataclass
from typing import Literal

from nemutator_common import names

Reason = Literal[
    "asked",
    "season",
    "use",
    "pressure",
    "requests",
    "stepping",
    "measuring",
    "stale",
    "silent",
    "taken_back",
    "disputed",
    "preview",
    "not_enabled",
    "most",
    "refused",
    "unselected",
    "not_counted",
]

SENTENCES: dict[Reason, str] = {
    "asked": "it is what the policy asks for",
    "season": "a SeasonPolicy in force allows no more",
    "use": "what its pods use of what they request allows no more",
    "pressure": "tasks there wait for CPU",
    "requests": "what runs there requests as much: cordon and drain it first",
    "stepping": "it changes by a tenth in ten minutes at most",
    "measuring": "too little is known of its use",
    "stale": "its agent has been silent for minutes: it stays as it is",
    "silent": "its agent is silent: it goes back, slowly",
    "taken_back": "its last change was taken back; `nemutator tombstones --forget --workload Node/…` lets it rise again",
    "disputed": "somebody else changes the annotation whenever it was written",
    "preview": "the policy has mode: Preview",
    "not_enabled": f"it has no label {names.OVERSELL}=enabled",
    "most": "brain.oversell_nodes allows no more nodes",
    "refused": "the brain may not write to nodes: `kubectl apply -k deploy/oversell`",
    "unselected": "no NodeOversell selects it",
    "not_counted": "its CPU is not known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVerdict:
    """One node, as people see it. Ratios are hundredths."""

    name: str
    raw_millis: int
    """What its kubelet has for pods."""
    allocatable_millis: int
    """What the scheduler goes by."""
    requested_millis: int
    used_millis: int | None
    """In 95 of 100 minutes of the last hour, or, if that is more, what its pods use when they are busy."""
    waiting: float | None
    """Share of the last minutes in which some task waited for CPU."""
    policy: str = ""
    asked: int | None = None
    standing: int
    """That is written on the node."""
    ratio: int
    """That is to stand there, or in Preview would."""
    could: int | None = None
    """What use and pressure allow, whatever is asked for; None: it is not known."""
    reason: Reason
    note: str = ""
    """What is wrong beside that."""

    @property
    def why(self) -> str:
        said = SENTENCES[self.reason]
        return f"{said}; {self.note}" if self.note else said
