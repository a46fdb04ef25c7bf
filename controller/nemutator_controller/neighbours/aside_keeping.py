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
"""Pods of one workload that are evicted for this in a week."""
WEEK_S = 7 * 86_400.0
MOST_KNOWN = 10_000
"""Workloads of which it is remembered."""
OLDEST_S = 600.0
"""A look that is older says nothing of now."""

NEW = "it has the grade for less than {:.0f} minutes"
LATELY = "another pod of its workload was evicted less than an hour ago"
EVERYWHERE = "its workload was in others' way wherever it ran: another node is no help"
NEXT = "another one is evicted first"
REASON = "SeasonPolicy {} keeps aggressors aside: {}"


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
    _moved: OrderedDict[NeighbourWorkload, list[float]] = field(
        default_factory=OrderedDict, init=False
    )
    """When pods of each were asked to go, the last one at the end."""
    _asked: dict[str, str] = field(default_factory=dict, init=False)
    """The request of each pod whose eviction was asked for, by its uid."""

    async def run(self) -> None:
        is_read = False
        while True:
            try:
                if is_read:
                    await self.round()
                else:
                    # By the next round the queue has what waits, too.
                    await self.read()
                    is_read = True
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
        request = await self.evictions.ask(one.uid, REASON.format(wanted.policy, said))
        if not request:
            return _shown(one, "kept", NEXT)
        self._asked[one.uid] = request
        self._note(_workload(one), now)
        log.info(
            "aggressor_evicted",
            {names.OBJECT: f"{one.namespace}/{one.name}", names.POLICY: wanted.policy},
        )
        return _shown(one, "evicting", "")

    def _why_not(self, one: GradedNeighbour, now: float) -> str:
        held_s = HELD_S * self.minute_s / 60
        if now - self._since[one.uid] < held_s:
            return NEW.format(held_s / 60)
        scale = self.minute_s / 60
        moved = [at for at in self._moved.get(_workload(one), ()) if now - at < WEEK_S * scale]
        if len(moved) >= MOST_TIMES:
            return EVERYWHERE
        if moved and now - moved[-1] < AGAIN_S * scale:
            return LATELY
        return self.evictions.why_not(one.uid)

    def _note(self, workload: NeighbourWorkload, at: float) -> None:
        self._moved[workload] = [*self._moved.pop(workload, ()), at][-MOST_TIMES:]
        if len(self._moved) > MOST_KNOWN:
            self._moved.popitem(last=False)

    async def read(self) -> None:
        """What was asked for before this brain began, or while another one led. Raises `StoreUnavailableError`."""
        clock = self.process.clock
        passed = clock.now() - clock.monotonic()
        found = await self.evictions.before(clock.now() - WEEK_S * self.minute_s / 60)
        self._moved, self._asked = OrderedDict(), {}
        for one in found:
            self._note(one.workload, one.at - passed)
            if one.is_open:
                self._asked[one.uid] = one.request

    async def _cancel(self) -> None:
        """What waits is not wanted any more."""
        asked, self._asked = self._asked, {}
        for uid, request in asked.items():
            if self.evictions.waits(uid):
                await self.evictions.cancel(request)


def is_for_this(reason: str) -> bool:
    """Whether an eviction was asked for with that reason here."""
    begins, _, then = REASON.partition("{}")
    return reason.startswith(begins) and then.partition("{}")[0] in reason


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
