"""Has aggressors evicted while a SeasonPolicy says so, so that their workloads make others, which are placed anew.

One after another, by the queue of all evictions, and only whoever has been in others' way for some minutes. Of a workload
that was in others' way wherever it ran, no further pod is moved: it would suffer, and nobody would be better off.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import (
    NOBODY_ASIDE,
    AsidePod,
    AsideState,
    GradedNeighbour,
    NeighbourRole,
    NeighbourWorkload,
    WantedAside,
)
from nemutator_controller.neighbours.ports import AsideEvictions, AsideSeason

log = logging.getLogger(__name__)

EVERY_S = 30.0
HELD_S = 300.0
"""For so long somebody has to be in others' way."""
AGAIN_S = 3_600.0
"""How long a workload is left alone of which a pod was evicted: the next one has to be ready, and to be looked at."""
MOST_TIMES = 3
"""Pods of one workload that are evicted for this in the life of a brain."""
MOST_KNOWN = 10_000
"""Workloads of which it is remembered."""
OLDEST_S = 600.0
"""A look that is older says nothing of now."""

NEW = "it has the grade for less than {:.0f} minutes"
LATELY = "another pod of its workload was evicted less than an hour ago"
EVERYWHERE = "its workload was in others' way wherever it ran: another node is no help"
NEXT = "another one is evicted first"


@dataclass(slots=True)
class _Moved:
    at: float
    times: int


@dataclass(slots=True)
class AsideKeeping:
    """`run` is a task for a Supervisor."""

    season: AsideSeason
    assessments: NeighbourAssessments
    evictions: AsideEvictions
    process: Process
    _: KW_ONLY
    minute_s: float = 60.0
    state: AsideState = field(default=NOBODY_ASIDE, init=False)
    _since: dict[str, float] = field(default_factory=dict, init=False)
    """Since when each aggressor has the grade, by its uid."""
    _moved: OrderedDict[NeighbourWorkload, _Moved] = field(default_factory=OrderedDict, init=False)
    _asked: dict[str, str] = field(default_factory=dict, init=False)
    """The request of each pod whose eviction was asked for, by its uid."""

    async def run(self) -> None:
        while True:
            try:
                await self.round()
            except StoreUnavailableError as failure:
                log.warning("aggressors_stay", {names.REASON: failure.reason})
            await self.process.clock.sleep(EVERY_S * self.minute_s / 60)

    async def round(self) -> None:
        wanted, latest = self.season.aside(), self.assessments.latest
        if wanted is None:
            await self._cancel()
            self.state, self._since = NOBODY_ASIDE, {}
            return
        now = self.process.clock.monotonic()
        is_new = self.process.clock.now() - latest.at <= OLDEST_S
        found = aggressors(latest.pods, wanted.grade) if is_new else []
        self._since = {one.uid: self._since.get(one.uid, now) for one in found}
        self._asked = {
            uid: request for uid, request in self._asked.items() if self.evictions.waits(uid)
        }
        shown = [await self._consider(one, wanted, now) for one in found]
        self.state = AsideState(policy=wanted.policy, evicts=wanted.evicts, pods=tuple(shown))

    async def _consider(self, one: GradedNeighbour, wanted: WantedAside, now: float) -> AsidePod:
        if one.uid in self._asked:
            return _shown(one, "evicting", "")
        why = self._why_not(one, now)
        if why:
            return _shown(one, "kept", why)
        if not wanted.evicts:
            return _shown(one, "planned", "")
        if self._asked:
            return _shown(one, "kept", NEXT)
        said = one.why_within.get(NeighbourRole.AGGRESSOR, "")
        reason = f"SeasonPolicy {wanted.policy} keeps aggressors aside: {said}"
        request = await self.evictions.ask(one.uid, reason)
        if not request:
            return _shown(one, "kept", NEXT)
        self._asked[one.uid] = request
        workload = _workload(one)
        before = self._moved.pop(workload, _Moved(now, 0))
        self._moved[workload] = _Moved(now, before.times + 1)
        if len(self._moved) > MOST_KNOWN:
            self._moved.popitem(last=False)
        log.info(
            "aggressor_evicted",
            {names.OBJECT: f"{one.namespace}/{one.name}", names.POLICY: wanted.policy},
        )
        return _shown(one, "evicting", "")

    def _why_not(self, one: GradedNeighbour, now: float) -> str:
        held_s = HELD_S * self.minute_s / 60
        if now - self._since[one.uid] < held_s:
            return NEW.format(held_s / 60)
        moved = self._moved.get(_workload(one))
        if moved is not None and moved.times >= MOST_TIMES:
            return EVERYWHERE
        if moved is not None and now - moved.at < AGAIN_S * self.minute_s / 60:
            return LATELY
        return self.evictions.why_not(one.uid)

    async def _cancel(self) -> None:
        """What waits is not wanted any more."""
        asked, self._asked = self._asked, {}
        for uid, request in asked.items():
            if self.evictions.waits(uid):
                await self.evictions.cancel(request)


def aggressors(pods: Sequence[GradedNeighbour], grade: int) -> list[GradedNeighbour]:
    """Those that are in others' way now by at least *grade*, the worst first."""
    found = [one for one in pods if _now(one) >= grade]
    return sorted(found, key=lambda one: (-_now(one), one.namespace, one.name))


def _now(one: GradedNeighbour) -> int:
    return one.grades[NeighbourRole.AGGRESSOR].now or 0


def _workload(one: GradedNeighbour) -> NeighbourWorkload:
    return NeighbourWorkload(one.namespace, one.owner_kind, one.owner)


def _shown(one: GradedNeighbour, state: str, why: str) -> AsidePod:
    return AsidePod(
        namespace=one.namespace,
        name=one.name,
        node=one.node,
        grade=_now(one),
        state=state,
        why=why,
    )
