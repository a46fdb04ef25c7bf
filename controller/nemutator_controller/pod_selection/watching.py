"""Watches the selectors of workloads, and pods that are let go, and tells admission of labels that are not wanted.

A workload makes its first pod some milliseconds after it is made itself. So admission's question is held until there
is something new to tell, and what is told is whole: a part of it would have labels written that are not wanted.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import UnwantedSnapshot
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.pod_selection.unwanted_labels import KnownUnwanted, Workload

log = logging.getLogger(__name__)

SUBSCRIBER = "pod selection"
HELD_S = 4.0
"""Shorter than the patience of who asks, and than the time in which a brain ends."""


@dataclass(frozen=True, slots=True)
class ToldUnwanted:
    snapshot: UnwantedSnapshot
    tag: str


@dataclass(slots=True)
class SelectorWatching:
    workloads: Mapping[str, Informer[WatchedWorkload]]
    """By kind."""
    pods: Informer[Pod]
    process: Process
    held_s: float = HELD_S
    _known: KnownUnwanted = field(default_factory=KnownUnwanted, init=False)
    _listed: set[str] = field(default_factory=set, init=False)
    """Kinds of which all selectors are known."""
    _told: ToldUnwanted | None = field(default=None, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        found: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            f"selectors of {kind}": partial(self._follow, kind, informer)
            for kind, informer in self.workloads.items()
        }
        return found | {"pods that are let go": self._notice}

    def of(self, workload: Workload) -> frozenset[str]:
        """Keys of labels that *workload* wants pods without."""
        return self._known.of(workload)

    async def other_than(self, tags: Collection[str]) -> ToldUnwanted | None:
        """What is known, as soon as it is something else than what has one of *tags*, or after some seconds all the
        same; None: not all workloads are listed yet."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.held_s):
                while self._told is None or self._told.tag in tags:
                    await self._changed.wait()
        return self._told

    async def _follow(self, kind: str, informer: Informer[WatchedWorkload]) -> None:
        with informer.subscribe(SUBSCRIBER) as changes:
            async for change in changes:
                if isinstance(change, Resync):
                    self._known.replace(kind, change.snapshot.objects.values())
                    self._listed.add(kind)
                elif not (
                    self._known.forget(kind, change.key)
                    if change.after is None
                    else self._known.see(kind, change.after)
                ):
                    continue
                self._tell()

    async def _notice(self) -> None:
        with self.pods.subscribe(SUBSCRIBER) as changes:
            async for change in changes:
                if isinstance(change, Resync) or change.before is None or change.after is None:
                    continue
                now = self.process.clock.now()
                workload = self._known.learn(change.before, change.after, now=now)
                if workload is not None:
                    log.warning(
                        "pod_let_go",
                        {
                            names.POD: change.after.metadata.key,
                            names.OBJECT: "/".join(workload),
                            names.REASON: "its workload does not want a label that a policy has added",
                        },
                    )
                    self._tell()

    def _tell(self) -> None:
        if self._listed != self.workloads.keys():
            return
        snapshot = self._known.told()
        tag = hashlib.blake2b(msgspec.json.encode(snapshot), digest_size=16).hexdigest()
        if self._told is None or tag != self._told.tag:
            self._told = ToldUnwanted(snapshot, tag)
            self._changed.set()
            self._changed = asyncio.Event()
