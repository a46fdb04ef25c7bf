"""Decides which pods that run are resized or evicted now, as policies say, and in which order.

What kubelet makes of a change stands in the pod's conditions, which the next look reads: a change that it puts off
is waited for, one that it cannot make is told.
"""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.policies.time_windows import holds
from nemutator_controller.updating.decisions import (
    DIFFERENT,
    VERB,
    SizingSituation,
    decide,
    was_sized,
)
from nemutator_controller.updating.evicting import SizingEvictions
from nemutator_controller.updating.hourly_advice import (
    ChangesOfDay,
    hourly_containers,
    is_hourly,
    with_hourly,
)
from nemutator_controller.updating.model import SoundSizing
from nemutator_controller.updating.node_room import PodNeeds, needs_of
from nemutator_controller.updating.ports import (
    GivenAdvice,
    HourlyAdvice,
    KnownSizings,
    ProvenWebhook,
    SizedPods,
    SizingJournal,
)
from nemutator_controller.updating.progress import PolicyProgress, open_changes, state_of
from nemutator_controller.updating.records import (
    ContainerAdvice,
    MoveElsewhere,
    NotResizedError,
    PodChangedError,
    ResizeInPlace,
    SizedPod,
    SizedWorkload,
    SizingDecision,
    WaitFirst,
)
from nemutator_controller.updating.resize_writing import TRIES, ResizeWriter
from nemutator_controller.updating.selection import policy_for

log = logging.getLogger(__name__)

CHECK_S = 15.0
AT_ONCE = 200
"""Pods that are decided about in one turn of the event loop."""

REFUSED_FIRST_S, REFUSED_LONGEST_S = 300.0, 6 * 3_600.0
"""A pod whose change was refused is tried again after so long, each time after twice as long."""

UNPROVEN = "no replica of admission was heard of lately: nothing is changed until one is"
HELD = "the SeasonPolicy {} holds resizes back"

Due = tuple[SizedPod, SoundSizing, ResizeInPlace | str]
"""What is to be done: a resize, or an eviction, of which the text says why."""


@dataclass(slots=True)
class _Refusal:
    until: float
    wait_s: float
    why: str
    evicts: bool
    """Whether a new pod of that size would be let in, as far as we know."""
    needs: PodNeeds
    """What it would have requested."""


@dataclass(slots=True)
class RunningResizes:
    pods: SizedPods
    policies: KnownSizings
    advice: GivenAdvice
    journal: SizingJournal
    webhook: ProvenWebhook
    evictions: SizingEvictions
    writer: ResizeWriter
    process: Process
    hourly: HourlyAdvice
    _: KW_ONLY
    per_minute: float
    """Changes of all policies together."""
    own_namespace: str = ""
    held: Callable[[], str] = lambda: ""
    """The SeasonPolicy that holds all changes back now; empty: none does."""
    progress: Mapping[str, PolicyProgress] = field(default_factory=dict, init=False)
    """By policy, of the last look."""
    _room: float = field(default=0.0, init=False)
    _rooms: dict[str, float] = field(default_factory=dict, init=False)
    _changed_at: dict[str, float] = field(default_factory=dict, init=False)
    """By uid. A pod that was changed before this brain began counts as changed when that began."""
    _refused: dict[str, _Refusal] = field(default_factory=dict, init=False)
    _hours: ChangesOfDay = field(default_factory=ChangesOfDay, init=False)
    _told: set[tuple[str, str]] = field(default_factory=set, init=False)
    """Uid and what its people were told."""
    _began_at: float = field(default=0.0, init=False)
    _advice: Mapping[SizedWorkload, Mapping[str, ContainerAdvice]] = field(
        default_factory=dict, init=False
    )
    """Of this look."""
    _taken_back: defaultdict[SizedWorkload, frozenset[str]] = field(
        default_factory=lambda: defaultdict(frozenset), init=False
    )

    async def run(self) -> None:
        self._began_at = self.process.clock.now()
        while True:
            await self.process.clock.sleep(CHECK_S)
            self._room = min(self._room + self.per_minute * CHECK_S / 60, max(1.0, self.per_minute))
            try:
                await self.check()
            except (StoreUnavailableError, NotResizedError) as error:
                log.warning("pods_not_resized", {names.ERROR: str(error)})

    async def check(self) -> None:
        """One look at all pods."""
        policies = self.policies.sound()
        pods = await self.pods.now() if policies else ()
        if policies is None or pods is None:
            return
        self._forget(pods, policies)
        progress = {each.name: PolicyProgress(mode=each.spec.mode) for each in policies}
        self._advice = await self.advice.now() if pods else {}
        self._taken_back = await self._tombstones() if pods else defaultdict(frozenset)
        due = await self._due(pods, policies, progress)
        alive = self.webhook.is_alive()
        self.process.meter.gauge(names.RESIZES_PAUSED, 0.0 if alive else 1.0)
        due.sort(key=self._order)
        busy = open_changes(pod for pod in pods if not self.evictions.is_put_off(pod))
        for pod, policy, found in due:
            done = progress[policy.name]
            if policy.spec.mode in ("Off", "Initial") and isinstance(found, ResizeInPlace):
                done.note(pod, *state_of(found))
            elif not alive:
                done.note(pod, "waits", UNPROVEN)
            elif brain := self.held():
                done.note(pod, "waits", HELD.format(brain))
            elif isinstance(found, str) and (why := self.evictions.too_soon(pod)):
                # Of another one of this look.
                done.note(pod, "waits", f"{found}; not evicted: {why}")
            elif why := self._later(pod, policy, busy):
                # Whoever is tried in turn waits for the same at each look.
                again = self.evictions.refusal(pod) if isinstance(found, str) else ""
                done.note(pod, "waits", again or why)
            elif isinstance(found, str):
                done.note(pod, *await self.evictions.evict(pod, policy, found))
            else:
                busy[pod.workload] += 1
                done.note(pod, *await self._give(pod, policy))
        self.progress = progress
        self.process.meter.gauge(
            names.RESIZES_WAITING, sum(each.counts["waits"] for each in progress.values())
        )

    def _order(self, due: Due) -> tuple[float, bool]:
        """Who needs more comes first. Whom nobody may evict takes no turn of others, and waits in turn."""
        pod, _, found = due
        if isinstance(found, str):
            return self.evictions.refused_at(pod), False
        return -math.inf, not found.raises

    async def _due(
        self,
        pods: Sequence[SizedPod],
        policies: Sequence[SoundSizing],
        progress: Mapping[str, PolicyProgress],
    ) -> list[Due]:
        running = Counter(pod.workload for pod in pods)
        due: list[Due] = []
        wanted: set[tuple[SizedWorkload, str]] = set()
        for number, pod in enumerate(pods, 1):
            if number % AT_ONCE == 0:
                await self.process.clock.sleep(0)
            policy = policy_for(pod, policies, own_namespace=self.own_namespace)
            if policy is None:
                continue
            self._tell_state(pod)
            wanted.update(hourly_containers(pod, policy))
            progress[policy.name].advise(pod, self._recommended(pod, policy))
            situation = self._situation(pod, running[pod.workload])
            if situation is None:
                progress[policy.name].note(pod, "waits", "autoscalers and nodes are not known yet")
                continue
            decision, is_time = self._decided(pod, policy, situation)
            cause, needs = self._unmade(pod, policy, decision)
            barred = ""
            if cause:
                barred = self.evictions.barred(
                    pod, policy, running=running[pod.workload], needs=needs
                )
                if not barred:
                    due.append((pod, policy, cause))
                    continue
            if isinstance(decision, MoveElsewhere):
                decision = decision.meanwhile
            state, why = state_of(decision)
            if isinstance(decision, ResizeInPlace):
                if is_time:
                    due.append((pod, policy, decision))
                    continue
                when = policy.spec.when
                is_season = when is not None and when.season and not self._in_season(policy)
                state, why = "waits", f"it is not the policy's {'season' if is_season else 'time'}"
            elif barred:
                state, why = "waits", f"{cause}; not evicted: {barred}"
            elif state == "left" and why.startswith(DIFFERENT.partition("{}")[0]):
                self._tell(pod, why, "foreign")
            progress[policy.name].note(pod, state, why)
        self.hourly.want(wanted)
        return due

    def _situation(self, pod: SizedPod, running: int) -> SizingSituation | None:
        around = self.pods.around(pod)
        if around is None:
            return None
        refusal = self._refused.get(pod.uid)
        now = self.process.clock.now()
        changed_at = self._changed_at.get(pod.uid)
        if changed_at is None and f'"{VERB}"' in pod.stamp:
            changed_at = self._began_at
        return SizingSituation(
            now=now,
            running=running,
            changed_at=changed_at,
            autoscaled=around.autoscaled,
            vertical_autoscaler=around.vertical_autoscaler,
            node=around.node,
            refused=refusal.why if refusal is not None and refusal.until > now else "",
            taken_back=self._taken_back[pod.workload],
            changes_of_day=self._hours.of(pod.uid, now),
        )

    def _recommended(self, pod: SizedPod, policy: SoundSizing) -> Mapping[str, ContainerAdvice]:
        return with_hourly(pod, policy, self._advice.get(pod.workload, {}), self.hourly)

    def _decided(
        self, pod: SizedPod, policy: SoundSizing, situation: SizingSituation
    ) -> tuple[SizingDecision, bool]:
        """What is to be done, and whether it is time for that. A pod that became smaller in the season of its policy has to
        be as large as is advised then before the next one, in which the policy may not be followed."""
        advice = self._recommended(pod, policy)
        if self._is_time(policy):
            return decide(pod, policy, advice, situation), True
        if was_sized(pod) and self._is_time(policy, in_any_season=True):
            larger = decide(pod, policy, advice, replace(situation, only_larger=True))
            if isinstance(larger, ResizeInPlace):
                return larger, True
        return decide(pod, policy, advice, situation), False

    def _is_time(self, policy: SoundSizing, *, in_any_season: bool = False) -> bool:
        when = policy.spec.when
        in_season = in_any_season or self._in_season(policy)
        return when is None or holds(when, self.process.clock.now(), in_season=in_season)

    def _in_season(self, policy: SoundSizing) -> bool:
        return policy.name in self.policies.in_season()

    def _unmade(
        self, pod: SizedPod, policy: SoundSizing, decision: SizingDecision
    ) -> tuple[str, PodNeeds]:
        """Why it cannot have what is advised where it is, so that it is one to evict, and what the next one would
        request; no reason: it is none."""
        if policy.spec.mode != "Evict" or not self._is_time(policy):
            return "", {}
        if isinstance(decision, MoveElsewhere):
            return decision.reason, decision.needs
        refusal = self._refused.get(pod.uid)
        if isinstance(decision, WaitFirst) and decision.was_refused and refusal is not None:
            return (f"not resized: {refusal.why}" if refusal.evicts else ""), refusal.needs
        return (self.evictions.cause(pod) if f'"{VERB}"' in pod.stamp else ""), needs_of(pod)

    def _later(self, pod: SizedPod, policy: SoundSizing, busy: Counter[SizedWorkload]) -> str:
        """Why it has to wait for other pods; empty: it is its turn, which is taken."""
        if busy[pod.workload] >= policy.spec.pods_at_once:
            return "another pod of its workload is being changed"
        if self._room < 1.0 or self._rooms[policy.name] < 1.0:
            return "other pods come first: so many may be changed in a minute"
        self._room -= 1.0
        self._rooms[policy.name] -= 1.0
        return ""

    async def _give(self, pod: SizedPod, policy: SoundSizing) -> tuple[str, str]:
        """Its state after that, and why."""
        needs = needs_of(pod)
        for _ in range(TRIES):
            try:
                found = await self.pods.read(pod)
                if found is None:
                    return "left", "it is gone"
                fresh, document, version = found
                decision = self._again(fresh, policy)
                if isinstance(decision, MoveElsewhere):
                    decision = decision.meanwhile
                if not isinstance(decision, ResizeInPlace):
                    return state_of(decision) if decision is not None else ("waits", "not known")
                needs = needs_of(fresh, decision.changes)
                note = await self.writer.write(fresh, document, version, decision, policy.name)
                self._changed_at[pod.uid] = self.process.clock.now()
                if is_hourly(policy):
                    self._hours.note(pod.uid, decision.changes, self.process.clock.now())
                self._refused.pop(pod.uid, None)
                self._count("given")
                return "given", note
            except PodChangedError:
                self._count("conflict")
            except NotResizedError as error:
                # Where the policy evicts, the next look does.
                self._refuse(pod, error, needs)
                return "waits", str(error)
        return "waits", "it kept changing while this was tried"

    def _again(self, pod: SizedPod, policy: SoundSizing) -> SizingDecision | None:
        situation = self._situation(pod, policy.spec.min_replicas)
        if situation is None:
            return None
        return self._decided(pod, policy, situation)[0]

    def _refuse(self, pod: SizedPod, error: NotResizedError, needs: PodNeeds) -> None:
        why, again = str(error), error.again
        before = self._refused.get(pod.uid)
        wait_s = REFUSED_FIRST_S if before is None else min(2 * before.wait_s, REFUSED_LONGEST_S)
        self._refused[pod.uid] = _Refusal(
            self.process.clock.now() + wait_s,
            wait_s,
            why,
            evicts=not (again or error.for_new),
            needs=needs,
        )
        self._count("unreachable" if again else "refused")
        if not again:
            self._tell(pod, f"not resized: {why}", "")
        log.warning("pod_not_resized", {names.OBJECT: str(pod), names.ERROR: why})

    def _tell_state(self, pod: SizedPod) -> None:
        if pod.state in ("Deferred", "Infeasible", "Error") and f'"{VERB}"' in pod.stamp:
            note = f"kubelet says of its new sizes: {pod.state}"
            self._tell(pod, note, pod.state.lower())

    def _tell(self, pod: SizedPod, note: str, result: str) -> None:
        """Once."""
        if (pod.uid, note) in self._told:
            return
        self._told.add((pod.uid, note))
        if result:
            self._count(result)
        self.pods.notify(pod, note, warning=True)

    async def _tombstones(self) -> defaultdict[SizedWorkload, frozenset[str]]:
        found: defaultdict[SizedWorkload, frozenset[str]] = defaultdict(frozenset)
        for each in await self.journal.tombstones():
            found[each.namespace, each.owner_kind, each.owner_name] |= {each.path}
        return found

    def _forget(self, pods: Sequence[SizedPod], policies: Sequence[SoundSizing]) -> None:
        """What is gone."""
        uids = {pod.uid for pod in pods}
        self._changed_at = {uid: at for uid, at in self._changed_at.items() if uid in uids}
        self._refused = {uid: why for uid, why in self._refused.items() if uid in uids}
        self._told = {each for each in self._told if each[0] in uids}
        self._hours.forget(uids)
        self.evictions.forget(uids, {pod.workload for pod in pods})
        rooms: dict[str, float] = {}
        for each in policies:
            most = float(each.spec.changes_per_minute)
            room = self._rooms.get(each.name, 0.0) + most * CHECK_S / 60
            rooms[each.name] = min(room, max(1.0, most))
        self._rooms = rooms

    def _count(self, result: str) -> None:
        self.process.meter.count(names.RESIZES, result=result)
