"""Keeps a copy of one resource up to date for as long as the process lives.

The copy comes as a watch that begins with everything (WatchList) where the server has that, else
as a list in pages; then a watch follows every change. A watch goes on from the version of the last
event or bookmark and from nowhere else. What the server has forgotten (410) is listed again, and
whatever is then missing is reported as gone.

It never gives up: each failure waits longer than the one before, `problem`
says what is wrong, and before the first complete list there is no snapshot at all.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call, Selection
from nemutator_controller.kube.decoder import (
    Added,
    Bookmark,
    Decoder,
    Deleted,
    Event,
    Failed,
    Modified,
    Page,
    Undecodable,
)
from nemutator_controller.kube.failures import (
    GoneError,
    InvalidError,
    KubeError,
    UnavailableError,
    UnknownResourceError,
    from_status,
)
from nemutator_controller.kube.lines import LineSplitter
from nemutator_controller.kube.objects import Metadata, Object
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import EVERYTHING, page_in
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.store import Change, Index, Replacement, Store, StoreSnapshot
from nemutator_controller.kube.subscribing import Subscribers, Subscription

log = logging.getLogger(__name__)

T = TypeVar("T", bound=Object)

_Put = (Added, Modified)

BACKOFF = Backoff(first_s=1.6, longest_s=30.0)
"""With its jitter: from 0.8 to 30 s."""

NAMED_UNDECODABLE = 1000
"""Objects that are remembered by name because they cannot be read; all of them are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InformerPace:
    """How patient an informer is."""

    page: int = 500
    """Objects of one page: 3 MB of pods, decoded in about 5 ms."""

    page_tries: int = 6
    """For one page, before the list begins again: its token lives for five minutes."""

    first_list_s: float = 300.0
    """All that a WatchList sends first may take so long. KEP-3157 saw 60 s for 165 000 pods."""

    watch_s: float = 300.0
    """The server keeps a watch so long, or up to twice as long, so that not all end at once."""

    idle_s: float = 150.0
    """After so long a silence a connection is dead: bookmarks come about every minute."""

    brief_s: float = 1.0
    """A watch that ends sooner without an event counts as a failure."""

    relist_s: float = 3600.0
    """A copy is trusted so long, or up to twice as long. A server restored from a backup without raised
    versions is silent on a watch from a newer one, until its own versions have passed it."""

    stuck_after: int = 5
    """After so many failures in a row the version itself is doubted: a server restored from a
    backup knows none of the newer ones, and says so in many ways."""

    absent_s: float = 300.0
    """A resource that may be missing is looked for so often."""

    backoff: Backoff = BACKOFF


class NotSyncedError(Exception):
    """There is no complete copy yet, and an empty one would be wrong."""


class Informer(Generic[T]):
    """`run` is the loop; `snapshot` and `subscribe` are for everybody else in the process."""

    def __init__(
        self,
        resource: Resource[T],
        *,
        transport: Transport,
        process: Process,
        selection: Selection = EVERYTHING,
        indexes: Mapping[str, Index[T]] | None = None,
        pace: InformerPace | None = None,
        may_be_absent: bool = False,
    ) -> None:
        """*may_be_absent*: where the server does not serve it, there are none of it."""
        self._resource = resource
        self._selection = selection
        self._transport = transport
        self._clock = process.clock
        self._meter = process.meter
        self._dice = process.dice
        self._pace = pace or InformerPace()
        self._may_be_absent = may_be_absent
        self._decoder = Decoder(resource.shape)
        self._store: Store[T] = Store(indexes or {})
        self.writes = self._store.writes
        """Whoever keeps what was made of a snapshot sees here whether it holds still. The first complete copy counts, too."""
        self._subscribers: Subscribers[T] = Subscribers(resource.plural, process.meter)
        self._synced = asyncio.Event()
        self._failures = 0
        self._list_because: str | None = "first"
        self._relist_at = 0.0
        self._watch_list = True
        """Whether the server may have WatchList, as far as we know."""
        self._page_next = False
        """WatchList broke off: list in pages this once."""
        self.undecodable: dict[str, str] = {}
        """Objects whose present state cannot be read, and why."""
        self.problem: KubeError | None = None
        """Why the copy is not being kept up to date now."""

    async def synced(self) -> None:
        """Wait for the first complete copy."""
        await self._synced.wait()

    def snapshot(self) -> StoreSnapshot[T]:
        if not self._synced.is_set():
            raise NotSyncedError(
                f"{self._resource.plural} are not listed yet: {self.problem or 'still listing'}"
            )
        return self._store.snapshot()

    @contextlib.contextmanager
    def subscribe(self, name: str, *, capacity: int = 10_000) -> Iterator[Subscription[T]]:
        """Changes while the context is open. *name* is for the metric that says who is slow."""
        subscription = Subscription(self.snapshot, capacity)
        self._subscribers.add(name, subscription)
        if self._synced.is_set():
            subscription.begin()
        try:
            yield subscription
        finally:
            self._subscribers.remove(name)

    async def run(self) -> None:
        while True:
            try:
                await self._follow()
            except GoneError as error:
                self._list_because = "gone"
                await self._wait(error)
            except UnknownResourceError as error:
                if self._may_be_absent:
                    if len(self._store) or not self._synced.is_set():
                        self._complete(self._store.replacing(), "")
                    self._list_because, self._page_next = "absent", False
                    await self._clock.sleep(self._pace.absent_s * (1 + self._dice.random()))
                else:
                    await self._wait(error)
            except KubeError as error:
                await self._wait(error)

    async def _follow(self) -> None:
        """One list or one watch, to its end."""
        if self._list_because is None and self._clock.monotonic() >= self._relist_at:
            self._list_because = "periodic"
        if self._list_because is None:
            await self._watch()
            return
        self._meter.count(
            names.KUBE_LISTS, resource=self._resource.plural, reason=self._list_because
        )
        if not self._watch_list or self._page_next:
            self._page_next = False
            await self._list()
            return
        self._page_next = True
        try:
            await self._watch(self._store.replacing())
        except InvalidError:
            if self._list_because is not None:
                # The server refuses the option by its name: the feature is off, and stays off.
                self._watch_list = False
                return
            raise

    async def _list(self) -> None:
        replacement = self._store.replacing()
        after = ""
        while True:
            page = await self._page(after)
            for bad in page.undecodable:
                self._skip(bad, replacement)
            for item in page.items:
                replacement.offer(item)
            after = page.next
            if not after:
                break
        self._complete(replacement, page.resource_version)

    async def _page(self, after: str) -> Page[T]:
        call = calls.listing(self._resource, self._selection, limit=self._pace.page, after=after)
        for failures in range(1, self._pace.page_tries):
            try:
                return page_in(await self._transport.send(call), call, self._decoder)
            except KubeError as error:
                if not error.retry:
                    raise
                await self._clock.sleep(self._delay_s(error, failures))
        return page_in(await self._transport.send(call), call, self._decoder)

    async def _watch(self, replacement: Replacement[T] | None = None) -> None:
        """Follow changes; with a *replacement*, take in everything first."""
        started = self._clock.monotonic()
        call = calls.watching(
            self._resource,
            self._selection,
            resource_version="" if replacement else self._store.resource_version,
            timeout_s=self._pace.watch_s * (1 + self._dice.random()),
        )
        splitter = LineSplitter()
        received = False
        async with self._transport.stream(call, idle_s=self._pace.idle_s) as chunks:
            async for chunk in chunks:
                for lines in splitter.feed(chunk):
                    received = True
                    events = self._decoder.events(lines)
                    replacement = self._take(events, call, replacement)
                lasted_s = self._clock.monotonic() - started
                if replacement and lasted_s > self._pace.first_list_s:
                    raise UnavailableError(call.asked, f"no end of the list in {lasted_s:.0f} s")
        if replacement:
            raise UnavailableError(call.asked, "the stream ended before the list was complete")
        if not received and self._clock.monotonic() - started < self._pace.brief_s:
            raise UnavailableError(call.asked, "the server ends each watch at once")

    def _take(
        self, events: Sequence[Event[T]], call: Call, replacement: Replacement[T] | None
    ) -> Replacement[T] | None:
        """Take in *events*; the *replacement* is handed back for as long as it is not complete.

        All that one read brought is one step, without a turn of the loop between two events.
        """
        changes: list[Change[T]] = []
        try:
            for event in events:
                if isinstance(event, _Put):
                    if replacement:
                        replacement.offer(event.object)
                    else:
                        changes += self._store.put(event.object)
                        self._move_to(event.object.metadata)
                elif isinstance(event, Deleted):
                    metadata = event.object.metadata
                    if replacement:
                        replacement.withdraw(metadata.key)
                    else:
                        changes += self._store.remove(metadata.key)
                        self._move_to(metadata)
                elif isinstance(event, Bookmark):
                    version = event.object.metadata.resource_version
                    if not replacement:
                        self._store.resource_version = version
                        self._recover()
                    elif event.ends_initial_events:
                        self._complete(replacement, version)
                        replacement = None
                elif isinstance(event, Failed):
                    raise from_status(call.asked, event.object)
                else:
                    self._skip(event, replacement)
        finally:
            self._meter.count(names.KUBE_EVENTS, len(events), resource=self._resource.plural)
            self._publish(changes)
        return replacement

    def _move_to(self, metadata: Metadata) -> None:
        """Note the version of an event that was taken in: a watch goes on from there."""
        self._store.resource_version = metadata.resource_version
        if self.undecodable:
            self.undecodable.pop(metadata.key, None)
        if self._failures:
            self._recover()

    def _publish(self, changes: Sequence[Change[T]]) -> None:
        self._subscribers.publish(changes)
        self._meter.gauge(names.KUBE_OBJECTS, len(self._store), resource=self._resource.plural)

    def _complete(self, replacement: Replacement[T], version: str) -> None:
        changes = replacement.commit(version)
        self._list_because = None
        self._relist_at = self._clock.monotonic() + self._pace.relist_s * (1 + self._dice.random())
        self._page_next = False
        self.problem = None
        self._publish(changes)
        log.info(
            "kube_listed",
            {names.RESOURCE: self._resource.plural, names.COUNT: len(self._store)},
        )
        if not self._synced.is_set():
            self._synced.set()
            self.writes.number += 1
            self._subscribers.begin()

    def _skip(self, bad: Undecodable, replacement: Replacement[T] | None) -> None:
        """Keep what is known of the object: that is old, but the object is not gone."""
        self._meter.count(names.KUBE_UNDECODABLE, resource=self._resource.plural)
        if replacement and bad.key:
            replacement.keep(bad.key)
        elif bad.resource_version:
            self._store.resource_version = bad.resource_version
        key = bad.key or "(no name)"
        if key in self.undecodable or len(self.undecodable) >= NAMED_UNDECODABLE:
            return
        self.undecodable[key] = bad.why
        log.warning(
            "kube_object_undecodable",
            {names.RESOURCE: self._resource.plural, names.OBJECT: key, names.ERROR: bad.why},
        )

    def _recover(self) -> None:
        self._failures = 0
        self.problem = None

    async def _wait(self, error: KubeError) -> None:
        self._failures += 1
        if self._failures % self._pace.stuck_after == 0 and self._list_because is None:
            self._list_because = "stuck"
        delay_s = self._delay_s(error, self._failures)
        if str(error) != str(self.problem):
            log.warning(
                "kube_informer_waits",
                {
                    names.RESOURCE: self._resource.plural,
                    names.ERROR: error,
                    names.DELAY_S: round(delay_s, 1),
                },
            )
        self.problem = error
        await self._clock.sleep(delay_s)

    def _delay_s(self, error: KubeError, failures: int) -> float:
        return max(
            error.retry_after_s, self._pace.backoff.delay_s(failures, roll=self._dice.random())
        )
