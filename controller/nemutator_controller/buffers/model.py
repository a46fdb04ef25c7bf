"""What keeps room free, what is wanted of it, and what came of that: data only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedBuffer:
    """What a SeasonPolicy that is in force says; one of the two is given."""

    policy: str
    pods: int | None = None
    forecast_percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRise:
    """How much more CPU the cluster is expected to use within the lead than it does now."""

    cores: float
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferObject:
    """What asks for pods of the buffer: the Deployment of pause pods, or a CapacityBuffer."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    pods: int
    """That it asks for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBuffer:
    cpu_cores: float
    """That one pod of it requests."""
    memory_bytes: float
    holder: BufferObject
    """What is to ask for the pods."""
    others: tuple[BufferObject, ...] = ()
    """What could as well, and is to ask for none."""

    @property
    def objects(self) -> tuple[BufferObject, ...]:
        return self.holder, *self.others


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSize:
    pods: int | None
    """None: it cannot be told, and what stands stays."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferState:
    """What the last look has found; it is what people see."""

    at: float = 0.0
    policy: str = ""
    wanted: int | None = None
    why: str = "nobody has looked yet"
    found: FoundBuffer | None = None
    problem: str = ""
    """Why what is wanted does not stand."""


class BufferUnknownError(Exception):
    """What keeps room free cannot be known now."""


class NotScaledError(Exception):
    """An object could not be written to."""
