"""Our Kubernetes Events: they show what we did to an object where its owner looks first.

Events never delay the work: `announce` returns at once. The same news about the same object is
one Event that counts, and what does not fit or cannot be written is dropped and counted.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Literal

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import AlreadyExistsError, KubeError, NotFoundError
from nemutator_controller.kube.resources import EVENTS
from nemutator_controller.kube.writing import Json, Writer

log = logging.getLogger(__name__)

REMEMBERED = 4096
"""News whose count goes on; the server itself forgets Events after an hour."""

LONGEST_NOTE = 1024
"""The server refuses longer messages."""


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to one object. Equal news become one Event with a count."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    """One word in CamelCase, for machines."""
    note: str
    """One sentence, for people."""
    type: Literal["Normal", "Warning"] = "Normal"


@dataclass(slots=True)
class _Announced:
    first_at: float
    count: int


class Announcer:
    """`announce` may be called anywhere in the loop; `run` writes."""

    def __init__(
        self, writer: Writer, process: Process, *, component: str, capacity: int = 256
    ) -> None:
        self._writer = writer
        self._clock = process.clock
        self._meter = process.meter
        self._component = component
        self._capacity = capacity
        self._pending: OrderedDict[News, int] = OrderedDict()
        self._announced: OrderedDict[News, _Announced] = OrderedDict()
        self._ready = asyncio.Event()

    def announce(self, news: News) -> None:
        if news not in self._pending and len(self._pending) >= self._capacity:
            self._meter.count(names.KUBE_EVENTS_DROPPED, reason="full")
            return
        self._pending[news] = self._pending.get(news, 0) + 1
        self._ready.set()

    async def run(self) -> None:
        while True:
            await self._ready.wait()
            news, count = self._pending.popitem(last=False)
            if not self._pending:
                self._ready.clear()
            try:
                await self._write(news, count)
            except (KubeError, OverBudgetError) as error:
                self._meter.count(names.KUBE_EVENTS_DROPPED, reason="refused")
                log.warning(
                    "kube_event_dropped",
                    {names.OBJECT: f"{news.namespace}/{news.name}", names.ERROR: error},
                )

    async def _write(self, news: News, count: int) -> None:
        now = self._clock.now()
        announced = self._announced.setdefault(news, _Announced(now, 0))
        self._announced.move_to_end(news)
        if len(self._announced) > REMEMBERED:
            self._announced.popitem(last=False)
        announced.count += count
        namespace = news.namespace or "default"
        name = event_name(news, announced.first_at)
        again = {"count": announced.count, "lastTimestamp": _timestamp(now)}
        if announced.count > count:
            try:
                await self._writer.merge_patch(EVENTS, namespace, name, again)
            except NotFoundError:
                # The server has forgotten it: it is created again, with its count.
                pass
            else:
                return
        try:
            await self._writer.create(EVENTS, namespace, self._event(news, name, announced, again))
        except AlreadyExistsError:
            await self._writer.merge_patch(EVENTS, namespace, name, again)

    def _event(self, news: News, name: str, announced: _Announced, again: Json) -> Json:
        return {
            "metadata": {"name": name, "namespace": news.namespace or "default"},
            "involvedObject": {
                "apiVersion": news.api_version,
                "kind": news.kind,
                "namespace": news.namespace,
                "name": news.name,
                "uid": news.uid,
            },
            "type": news.type,
            "reason": news.reason,
            "message": news.note[:LONGEST_NOTE],
            "source": {"component": self._component},
            "firstTimestamp": _timestamp(announced.first_at),
            **again,
        }


def event_name(news: News, first_at: float) -> str:
    """The same news have the same name while this process lives: a lost response leads to no second Event."""
    identity = "\0".join((news.uid, news.reason, news.note, news.type, repr(first_at)))
    return f"{news.name[:200]}.{blake2b(identity.encode(), digest_size=8).hexdigest()}"


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
