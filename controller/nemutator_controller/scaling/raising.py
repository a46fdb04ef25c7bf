"""Has the minimums of autoscalers be what forecasts ask for; each change is in the journal before it is made.

More is asked for at once, less only after it would have been enough for some minutes. Whatever is in doubt leads back to
what the owner wrote; so does a ForecastScaler that is gone, only previews, or was taken back, and that at once.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.scaling.decisions import base_of, wanted_minimum
from nemutator_controller.scaling.journaled_changes import (
    MINIMUM,
    PATHS,
    raising_decision,
    tombstone_of,
)
from nemutator_controller.scaling.marks import RaisedMark, mark_of
from nemutator_controller.scaling.model import SoundScaler
from nemutator_controller.scaling.ports import (
    GrowthQueries,
    KnownScalers,
    ScaledAutoscalers,
    ScalingJournal,
    WorkloadForecasts,
)
from nemutator_controller.scaling.records import (
    REASONS,
    FoundAutoscaler,
    NotScaledWorkloadError,
    Reason,
    ScalerKey,
    ScalerState,
    WantedMinimum,
)
from nemutator_controller.scaling.stabilising_window import StabilisingWindow
from nemutator_controller.write_disputes import WriteDisputes

log = logging.getLogger(__name__)

EVERY_S = 15.0
LOWERED_AFTER_S = 600.0
AGAIN_S = 60.0
"""How long an autoscaler is left alone that could not be written to."""
MOST_ASKED = 20
"""Guards in one round: growth of the others has to wait for the next."""

NO_TARGET = "there is no HorizontalPodAutoscaler {} in its namespace"
ANOTHER = "the ForecastScaler {} is for the same HorizontalPodAutoscaler, and is the first by name"
TAKEN_BACK = "its change was taken back; `nemutator tombstones --forget` lets it follow again"
DISPUTED = "somebody else changes its minReplicas whenever nemutator has written it: it is left alone for some time"
ANOTHERS = "the nemutator of the namespace {} has raised it"
MOST_RAISED = "brain.raised_autoscalers allows no further one"
SURPRISE = "more is used than was foreseen: what is in force stays"
GONE = "no ForecastScaler of mode Apply is for it any more"
OVERWRITTEN = "somebody else has changed it since"


@dataclass(slots=True)
class MinimumRaising:
    scalers: KnownScalers
    autoscalers: ScaledAutoscalers
    forecasts: WorkloadForecasts
    journal: ScalingJournal
    guards: GrowthQueries
    process: Process
    _: KW_ONLY
    me: str
    """The namespace of this installation."""
    most: int
    """Autoscalers that are raised at the same time."""
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    every_s: float = EVERY_S
    lowered_after_s: float = LOWERED_AFTER_S
    states: Mapping[ScalerKey, ScalerState] = field(default_factory=dict, init=False)
    found: Mapping[ScalerKey, FoundAutoscaler] = field(default_factory=dict, init=False)
    _windows: dict[tuple[ScalerKey, str], StabilisingWindow] = field(
        default_factory=dict, init=False
    )
    """By autoscaler and its uid."""
    _disputes: WriteDisputes[str] = field(default_factory=WriteDisputes, init=False)
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict, init=False)
    """By uid: when it could not be written to, and why."""
    _asked: int = field(default=0, init=False)

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(self.every_s)

    async def round(self) -> None:
        scalers = self.scalers.sound()
        if scalers is None:
            return
        found = await self.autoscalers.now({one.target for one in scalers})
        if found is None:
            return
        now = self.process.clock.monotonic()
        self._forget(found, now)
        self._asked = 0
        try:
            stones = frozenset(await self.journal.tombstones())
            await self._give_back_others(scalers, found)
            states = await self._follow_all(scalers, found, stones, now)
        except StoreUnavailableError as failure:
            log.warning("minimum_not_raised", {names.REASON: failure.reason})
            states = [self._unwritten(one, found, failure.reason) for one in scalers]
        self.found = found
        self.states = {one.key: one for one in states}
        self._count(states)

    def _forget(self, found: Mapping[ScalerKey, FoundAutoscaler], now: float) -> None:
        there = {(one.key, one.uid) for one in found.values()}
        for gone in self._windows.keys() - there:
            del self._windows[gone]
        for uid in [uid for uid, (at, _) in self._failed.items() if now - at >= AGAIN_S]:
            del self._failed[uid]

    def _count(self, states: Iterable[ScalerState]) -> None:
        counts = Counter(one.reason for one in states)
        counts["faulty"] += len(self.scalers.faulty())
        for reason in REASONS:
            self.process.meter.gauge(names.FORECAST_SCALERS, counts[reason], reason=reason)

    async def _give_back_others(
        self, scalers: Sequence[SoundScaler], found: Mapping[ScalerKey, FoundAutoscaler]
    ) -> None:
        """Have all be as their owners wrote them that no ForecastScaler raises any more."""
        followed = {one.target for one in scalers if one.spec.mode == "Apply"}
        for one in found.values():
            if one.key not in followed and self._is_ours(one) and one.uid not in self._failed:
                await self._give_back(one, one.base, GONE)

    def _is_ours(self, one: FoundAutoscaler) -> bool:
        """Whether the annotation is that of this installation, and of this very object."""
        said = mark_of(one.annotation)
        return said is not None and (said.by, said.uid) == (self.me, one.uid)

    async def _follow_all(
        self,
        scalers: Sequence[SoundScaler],
        found: Mapping[ScalerKey, FoundAutoscaler],
        stones: Collection[Tombstone],
        now: float,
    ) -> list[ScalerState]:
        first: dict[ScalerKey, SoundScaler] = {}
        for one in scalers:
            first.setdefault(one.target, one)
        raised = sum(one.mark is not None and self._is_ours(one) for one in found.values())
        states = []
        for one in scalers:
            target = found.get(one.target)
            if target is None:
                why = NO_TARGET.format(one.spec.target)
                states.append(_state(one, None, "no_autoscaler", why))
            elif (other := first[one.target]) is not one:
                states.append(_state(one, target, "another_scaler", ANOTHER.format(other.name)))
            else:
                has_room = target.mark is not None or raised < self.most
                state = await self._follow(one, target, stones, now, has_room=has_room)
                raised += state.is_raised and target.mark is None
                states.append(state)
        return states

    async def _follow(
        self,
        scaler: SoundScaler,
        found: FoundAutoscaler,
        stones: Collection[Tombstone],
        now: float,
        *,
        has_room: bool,
    ) -> ScalerState:
        forecast = self.forecasts.of(found.workload, scaler.spec.lead_seconds)
        wanted = wanted_minimum(scaler.spec, found, forecast)
        state = replace(_state(scaler, found, wanted.reason, wanted.why), forecast=forecast)
        due = self._stabilised(wanted, scaler, found, now, is_surprised=forecast.is_surprised)
        state = replace(state, wanted=due.replicas, reason=due.reason, why=due.why)
        if scaler.spec.mode != "Apply":
            self._windows.pop((found.key, found.uid), None)
            return replace(state, reason="preview")
        if tombstone_of(found.key) in stones:
            self._windows.pop((found.key, found.uid), None)
            due = WantedMinimum(replicas=found.base, reason="taken_back", why=TAKEN_BACK)
        if found.mark is not None and not self._is_ours(found):
            return replace(state, reason="disputed", why=ANOTHERS.format(found.mark.by))
        if due.reason == "taken_back":
            # A person has done that, who is no rival.
            self._disputes.wrote(found.uid, MINIMUM, None)
        elif self._is_disputed(found, now):
            return replace(state, reason="disputed", why=DISPUTED)
        if due.replicas > found.minimum and (held := await self._held(scaler, has_room=has_room)):
            due = replace(held, replicas=found.minimum)
        state = replace(state, reason=due.reason, why=due.why)
        if problem := await self._bring(found, due, scaler.name):
            return replace(state, reason="refused", why=problem)
        is_raised = due.replicas > found.base
        return replace(state, minimum=due.replicas, is_raised=is_raised)

    def _stabilised(
        self,
        wanted: WantedMinimum,
        scaler: SoundScaler,
        found: FoundAutoscaler,
        now: float,
        *,
        is_surprised: bool,
    ) -> WantedMinimum:
        key = found.key, found.uid
        in_force = 0 if found.mark is None else found.minimum
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = StabilisingWindow(self.lowered_after_s)
            # A brain that starts anew lowers nothing at once.
            window.see(in_force, now=now)
        stays = is_surprised and wanted.replicas < in_force
        seen = window.see(in_force if stays else wanted.replicas, now=now)
        # What was wanted and could not be had is not made up for.
        seen = min(seen, max(in_force, wanted.replicas))
        most = min(found.maximum, scaler.spec.max_replicas or found.maximum)
        replicas = max(base_of(scaler.spec, found), min(seen, most))
        if replicas <= wanted.replicas:
            return wanted
        if stays:
            return WantedMinimum(replicas=replicas, reason="surprise", why=SURPRISE)
        why = f"{wanted.replicas} would be enough, but not for long enough: {wanted.why}"
        return WantedMinimum(replicas=replicas, reason="settling", why=why)

    def _is_disputed(self, found: FoundAutoscaler, now: float) -> bool:
        minimum = str(found.minimum)
        if self._disputes.see(found.uid, MINIMUM, minimum, now=now):
            log.warning("minimum_disputed", {names.OBJECT: _named(found), names.REASON: DISPUTED})
            self.autoscalers.notify(found, DISPUTED, warning=True)
        return self._disputes.is_left_alone(found.uid, MINIMUM, now=now)

    async def _held(self, scaler: SoundScaler, *, has_room: bool) -> WantedMinimum | None:
        """Why the minimum may not grow now; None: it may."""
        if not has_room:
            return WantedMinimum(replicas=0, reason="most_raised", why=MOST_RAISED)
        guard = scaler.spec.guard
        if guard is None:
            return None
        if self._asked >= MOST_ASKED:
            return WantedMinimum(replicas=0, reason="guard", why="its guard was not asked yet")
        self._asked += 1
        value = await self.guards.highest(guard.query)
        if isinstance(value, str):
            return WantedMinimum(replicas=0, reason="guard", why=f"its guard: {value}")
        if value > guard.above:
            why = f"its guard is at {value:g}, above {guard.above:g}: it does not grow"
            return WantedMinimum(replicas=0, reason="guard", why=why)
        return None

    async def _bring(self, found: FoundAutoscaler, due: WantedMinimum, scaler: str) -> str:
        """Have what is due stand; why it does not. Raises `StoreUnavailableError`."""
        if (failed := self._failed.get(found.uid)) is not None:
            return failed[1]
        if due.replicas <= found.base:
            if self._is_ours(found):
                return await self._give_back(found, found.base, due.why)
            return ""
        if found.mark is not None and found.minimum == due.replicas:
            return ""
        mark = RaisedMark(
            base=found.base,
            raised=due.replicas,
            decision=self.fresh(),
            by=self.me,
            uid=found.uid,
        )
        at = self.process.clock.now()
        await self.journal.add(raising_decision(found, mark, scaler=scaler, why=due.why, at=at))
        if self._is_ours(found) and (before := mark_of(found.annotation)):
            why = due.why if found.mark else OVERWRITTEN
            await self.journal.ended(before.decision, PATHS, why)
        try:
            await self.autoscalers.raise_to(found, due.replicas, mark.text)
        except NotScaledWorkloadError as error:
            return self._refused(found, error)
        self._written(found, due.replicas, due.why, "raised")
        return ""

    async def _give_back(self, found: FoundAutoscaler, base: int, why: str) -> str:
        said = mark_of(found.annotation)
        if said is not None:
            await self.journal.ended(said.decision, PATHS, why if found.mark else OVERWRITTEN)
        try:
            await self.autoscalers.give_back(found, base)
        except NotScaledWorkloadError as error:
            return self._refused(found, error)
        self._windows.pop((found.key, found.uid), None)
        self._written(found, base, why, "given_back")
        return ""

    def _written(self, found: FoundAutoscaler, minimum: int, why: str, result: str) -> None:
        # Of what was given back its owner may make what he likes: that undoes nothing of ours.
        self._disputes.wrote(found.uid, MINIMUM, str(minimum) if result == "raised" else None)
        self.process.meter.count(names.MINIMUM_WRITES, result=result)
        log.info(
            "minimum_written",
            {names.OBJECT: _named(found), names.COUNT: minimum, names.REASON: why},
        )
        if minimum != found.minimum:
            note = f"minReplicas from {found.minimum} to {minimum}: {why}"
            self.autoscalers.notify(found, note[:1_000])

    def _refused(self, found: FoundAutoscaler, error: NotScaledWorkloadError) -> str:
        self.process.meter.count(names.MINIMUM_WRITES, result="refused")
        log.warning("minimum_not_raised", {names.OBJECT: _named(found), names.ERROR: error})
        self._failed[found.uid] = self.process.clock.monotonic(), str(error)
        return str(error)

    def _unwritten(
        self, scaler: SoundScaler, found: Mapping[ScalerKey, FoundAutoscaler], why: str
    ) -> ScalerState:
        return _state(scaler, found.get(scaler.target), "store", f"the journal: {why}")


def _state(
    scaler: SoundScaler, found: FoundAutoscaler | None, reason: Reason, why: str
) -> ScalerState:
    state = ScalerState(
        namespace=scaler.namespace,
        name=scaler.name,
        target=scaler.spec.target,
        mode=scaler.spec.mode,
        reason=reason,
        why=why,
    )
    if found is None:
        return state
    return replace(
        state,
        workload=found.workload,
        base=base_of(scaler.spec, found),
        minimum=found.minimum,
        is_raised=found.mark is not None,
    )


def _named(found: FoundAutoscaler) -> str:
    return f"{found.namespace}/{found.name}"
