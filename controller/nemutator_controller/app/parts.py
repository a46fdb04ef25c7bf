"""What a feature adds to the brain, as data: its paths, what it restores, and its tasks."""

import enum
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nemutator_common.supervising import Supervisor

from nemutator_controller.access.callers import CallerKind
from nemutator_controller.access.routes import AllowedRoute, ProcessRoute
from nemutator_controller.ingest.sql import StreamHandler


class TaskPhase(enum.IntEnum):
    """When a task starts. Tasks stop in the opposite order."""

    SAVE = 1
    """It saves what listeners take: it stops after them, and misses nothing."""
    WATCH = 2
    """It learns from the cluster what listeners answer with."""
    LISTEN = 3
    WORK = 4
    """Callers of listeners wait for it: it stops first, so that they do not hold up the stop."""


@dataclass(frozen=True, slots=True)
class Task:
    phase: TaskPhase
    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    alone: bool = False
    """Of several brains of a cluster only the one that leads does it."""


@dataclass(frozen=True, slots=True)
class StoredStream:
    writer: CallerKind
    """What sends its records, each under its own name."""
    handler: StreamHandler


async def nothing() -> None:
    """Restores a part that remembers nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    routes: Sequence[AllowedRoute] = ()
    """For people, on the console and on the unix socket."""
    uplink: Sequence[ProcessRoute] = ()
    """For agents and admission."""
    streams: Mapping[str, StoredStream] = field(default_factory=dict)
    restore: Callable[[], Awaitable[None]] = nothing
    tasks: Sequence[Task] = ()


def add_tasks(supervisor: Supervisor, tasks: Iterable[Task]) -> None:
    """Add *tasks* by phase, and those of one phase in the given order."""
    for task in sorted(tasks, key=lambda task: task.phase):
        supervisor.add(task.name, task.run)
