"""Evicts the pods that people have asked to have evicted, one after another, within budgets.

What is to be done stands in the store before anything is done, and so does each try: a brain that starts
again goes on where the one before it ended.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.evictions.pace import PERIOD_S, EvictionPace, Standing
from nemutator_controller.evictions.ports import EvictablePods, EvictionStore, PodEvictions
from nemutator_controller.evictions.records import (
    OPEN,
    EvictablePod,
    EvictionRefusedError,
    EvictionRequest,
    EvictionState,
    NotAllowedNowError,
    NotEvictedError,
    OwningWorkload,
    PodGoneError,
    RequestedEviction,
)

log = logging.getLogger(__name__)

CHECK_S = 1.0
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 60.0
"""Between two tries to evict a pod of a workload of which the API server did not let one go."""

MOST_OPEN = 20_000
"""Pods in the queue."""

LOOKED_AT = 100
"""Pods of one workload of which one may be of a node that has spent its budget."""

HELD = "the SeasonPolicy {} holds evictions back"
BY_THEN = "its request has ended before its turn came"


class TooManyEvictionsError(Exception):
    """So many pods are in the queue that there is no room for more."""


@dataclass(slots=True)
class _Backoff:
    tries: int
    until: float


@dataclass(slots=True)
class EvictionQueue:
    pods: EvictablePods
    store: EvictionStore
    evictions: PodEvictions
    pace: EvictionPace
    process: Process
    _: KW_ONLY
    held: Callable[[], str] = lambda: ""
    """The SeasonPolicy that holds all evictions back now; empty: none does."""
    _requests: dict[str, EvictionRequest] = field(default_factory=dict, init=False)
    _open: dict[tuple[str, str], RequestedEviction] = field(default_factory=dict, init=False)
    """By request and uid, in the order in which they were asked for."""
    _backoffs: dict[OwningWorkload, _Backoff] = field(default_factory=dict, init=False)
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def restore(self) -> None:
        """Raises `StoreUnavailableError`."""
        for request, evictions in await self.store.unfinished():
            self._take(request, evictions)
        now = self.process.clock.now()
        recent = await self.store.evicted_since(now - PERIOD_S)
        ago = [(each.pod, max(0.0, now - each.at)) for each in recent]
        self.pace.resumed(ago, now=self.process.clock.monotonic())

    async def resume(self) -> None:
        """Go on from what is stored, whatever is remembered here: another brain may have led meanwhile.

        Raises `StoreUnavailableError`.
        """
        async with self._saving:
            self._open, self._requests, self._backoffs = {}, {}, {}
            self.pace = EvictionPace(self.pace.budgets)
            await self.restore()

    @property
    def uids(self) -> set[str]:
        """Of the pods in the queue."""
        return {uid for _, uid in self._open}

    async def add(self, request: EvictionRequest, pods: Sequence[EvictablePod]) -> None:
        """Raises `TooManyEvictionsError` and `StoreUnavailableError`."""
        if len(self._open) + len(pods) > MOST_OPEN:
            raise TooManyEvictionsError
        evictions = [
            RequestedEviction(request=request.id, pod=pod, state="queued", at=request.at)
            for pod in pods
        ]
        await self.store.add(request, evictions)
        self._take(request, evictions)

    async def cancel(self, request: str) -> bool:
        """End what has not happened yet; False: there was nothing. Raises `StoreUnavailableError`."""
        mine = [each for each in self._open.values() if each.request == request]
        return bool(await self._settle(mine, "cancelled"))

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            try:
                await self._check()
            except StoreUnavailableError as failure:
                log.warning("evictions_wait", {names.ERROR: str(failure)})

    async def _check(self) -> None:
        self.process.meter.gauge(names.EVICTIONS_OPEN, len(self._open))
        if not self._open:
            return
        seen = await self.pods.together(self.uids | self.pace.sent)
        if seen is None:
            return
        there = {pod.uid: pod for pod in seen}
        self.pace.forget(seen, now=self.process.clock.monotonic())
        await self._close(there)
        together: defaultdict[OwningWorkload | None, list[EvictablePod]] = defaultdict(list)
        for pod in seen:
            together[pod.workload].append(pod)
        for workload, waiting in self._by_workload(there).items():
            await self._consider(waiting, together[workload], there)

    async def _close(self, there: dict[str, EvictablePod]) -> None:
        """Note what needs no eviction any more."""
        now = self.process.clock.now()
        gone = [each for each in self._open.values() if each.pod.uid not in there]
        await self._settle([each for each in gone if each.state == "evicting"], "evicted")
        await self._settle([each for each in gone if each.state != "evicting"], "gone")
        late = [each for each in self._open.values() if self._requests[each.request].until <= now]
        for why in {each.why for each in late}:
            said = f"{BY_THEN}: {why}" if why else BY_THEN
            await self._settle([each for each in late if each.why == why], "expired", said)

    def _by_workload(
        self, there: dict[str, EvictablePod]
    ) -> dict[OwningWorkload | None, list[RequestedEviction]]:
        """What waits, those first that are not ready: they serve nobody."""
        waiting: defaultdict[OwningWorkload | None, list[RequestedEviction]] = defaultdict(list)
        for each in self._open.values():
            # Those that came while others were saved are considered the next time.
            if each.pod.uid in there:
                waiting[each.pod.workload].append(each)
        for several in waiting.values():
            several.sort(key=lambda each: there[each.pod.uid].is_ready)
        return waiting

    async def _consider(
        self,
        waiting: Sequence[RequestedEviction],
        together: Sequence[EvictablePod],
        there: dict[str, EvictablePod],
    ) -> None:
        """Evict one pod of a workload, if it is one's turn."""
        if brain := self.held():
            why = HELD.format(brain)
            if waiting[0].why != why:
                await self._settle(waiting[:1], "queued", why)
            return
        now = self.process.clock.monotonic()
        workload = waiting[0].pod.workload
        backoff = None if workload is None else self._backoffs.get(workload)
        if backoff is not None and backoff.until > now:
            return
        standing = self.pace.standing(workload, together, now=now)
        whys = [
            self.pace.why_not(there[each.pod.uid], standing, now=now)
            for each in waiting[:LOOKED_AT]
        ]
        if "" in whys:
            await self._evict(waiting[whys.index("")], there, standing, now=now)
        elif waiting[0].why != whys[0]:
            await self._settle(waiting[:1], "queued", whys[0])

    async def _evict(
        self,
        eviction: RequestedEviction,
        there: dict[str, EvictablePod],
        standing: Standing,
        *,
        now: float,
    ) -> None:
        pod, request = there[eviction.pod.uid], self._requests.get(eviction.request)
        if not await self._settle([eviction], "evicting"):
            return
        try:
            await self.evictions.evict(pod)
        except PodGoneError:
            await self._settle([eviction], "gone")
        except EvictionRefusedError as error:
            await self._settle([eviction], "failed", str(error))
            log.warning("pod_not_evicted", {names.OBJECT: _name(pod), names.ERROR: str(error)})
        except NotEvictedError as error:
            state: EvictionState = "waits" if isinstance(error, NotAllowedNowError) else "queued"
            self._back_off(pod.workload, now)
            await self._settle([eviction], state, str(error))
        else:
            self.pace.evicted(pod, standing, now=now)
            await self._settle([eviction], "evicted")
            log.info("pod_evicted", {names.OBJECT: _name(pod), names.REASON: "request"})
            if request is not None:
                self.evictions.notify(pod, f"evicted for {request.by}: {request.reason}")

    def _back_off(self, workload: OwningWorkload | None, now: float) -> None:
        if workload is not None:
            tries = self._backoffs[workload].tries + 1 if workload in self._backoffs else 0
            wait_s = min(FIRST_WAIT_S * 2 ** min(tries, 10), LONGEST_WAIT_S)
            self._backoffs[workload] = _Backoff(tries, now + wait_s)

    async def _settle(
        self, evictions: Iterable[RequestedEviction], state: EvictionState, why: str = ""
    ) -> int:
        """Save the new *state* of those that are in the queue still, and forget what is finished; the
        number of them."""
        async with self._saving:
            now = self.process.clock.now()
            keys = [(each.request, each.pod.uid) for each in evictions]
            known = [self._open[key] for key in keys if key in self._open]
            if state == "cancelled":
                # One that the API server is being asked about cannot be called back.
                known = [each for each in known if each.state != "evicting"]
            changed = [each.then(state, at=now, why=why) for each in known]
            if changed:
                await self.store.save(changed)
            for each in changed:
                key = each.request, each.pod.uid
                if state in OPEN:
                    self._open[key] = each
                else:
                    del self._open[key]
                    self.process.meter.count(names.EVICTIONS, result=state)
            self._forget()
            return len(changed)

    def _take(self, request: EvictionRequest, evictions: Iterable[RequestedEviction]) -> None:
        self._requests[request.id] = request
        self._open |= {(each.request, each.pod.uid): each for each in evictions}

    def _forget(self) -> None:
        wanted = {request for request, _ in self._open}
        self._requests = {id_: each for id_, each in self._requests.items() if id_ in wanted}
        workloads = {each.pod.workload for each in self._open.values()}
        self._backoffs = {k: each for k, each in self._backoffs.items() if k in workloads}


def _name(pod: EvictablePod) -> str:
    return f"{pod.namespace}/{pod.name}"
