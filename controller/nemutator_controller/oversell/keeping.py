"""Has the ratios stand on nodes that policies, use and seasons allow; each change is in the journal before it is made.

What no policy wants any more is taken away, also where the setting is 0: the node then has what its kubelet says.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.paths import NODE
from nemutator_controller.oversell.decisions import (
    RatioRules,
    StandingRatio,
    WantedRatio,
    allowed_by_use,
    ratio_for,
)
from nemutator_controller.oversell.model import SoundOversell
from nemutator_controller.oversell.observed_nodes import (
    CeilingUnknownError,
    NodeRefusedError,
    NodeUses,
    ObservedNode,
)
from nemutator_controller.oversell.ports import (
    ObservedNodes,
    OversellJournal,
    OversellPolicies,
    SeasonCeiling,
)
from nemutator_controller.oversell.ratios import MOST, ONE, amplified, ratio_text
from nemutator_controller.oversell.verdicts import SENTENCES, NodeVerdict, Reason
from nemutator_controller.write_disputes import WriteDisputes

log = logging.getLogger(__name__)

EVERY_S = 15.0
MOST_AT_ONCE = 20
"""Nodes that are written to in one round: the others have to wait for the next."""
AT_ONCE = 200
"""Nodes that are decided about in one turn of the loop."""
UNWANTED_S = 300.0
"""How old what pods request may be, where nobody wants any node oversold: it takes seconds to go through 150 000 pods, and all that is
made of it then is what somebody might read."""
AGAIN_S = 600.0
"""How long nothing is written after the API server has refused it."""

KIND = NODE
PATH = f"metadata.annotations[{names.OVERSELL_RATIO}]"
VERB = "oversell"

DISPUTED = "somebody else changes the ratio of oversell whenever nemutator has written it"
NOT_APPLIED = "its allocatable CPU is not that yet: is the webhook of deploy/oversell there?"
OVER = "its pods request more than its kubelet has: a kubelet that starts anew would refuse some"


@dataclass(slots=True)
class OversellKeeping:
    nodes: ObservedNodes
    policies: OversellPolicies
    seasons: SeasonCeiling
    journal: OversellJournal
    process: Process
    _: KW_ONLY
    most: int
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    minute_s: float = 60.0
    """Less is a compressed one."""
    verdicts: Sequence[NodeVerdict] = field(default=(), init=False)
    at: float = field(default=0.0, init=False)
    """When they were made; 0: they were not yet."""
    problem: str = field(default="nobody has looked yet", init=False)
    """Why nothing is decided now."""
    _uses: NodeUses = field(init=False)
    _stepped: dict[str, float] = field(default_factory=dict, init=False)
    """By uid, when the ratio of a node was changed."""
    _disputes: WriteDisputes[str] = field(default_factory=WriteDisputes, init=False)
    _refused_at: float | None = field(default=None, init=False)
    _stands: bool = field(default=True, init=False)
    """Whether anything of ours may stand on a node."""

    def __post_init__(self) -> None:
        self._uses = NodeUses(self.minute_s)

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(EVERY_S * self.minute_s / 60)

    async def round(self) -> None:
        self.problem = await self._round()

    async def _round(self) -> str:
        unlisted = "nodes or NodeOversells are not listed yet"
        if (policies := self.policies.sound()) is None:
            return unlisted
        is_wanted = bool(policies or self.policies.faulty()) or self._stands
        nodes = await self.nodes.now(counted_within_s=0.0 if is_wanted else UNWANTED_S)
        if nodes is None:
            return unlisted
        self._stands = any(node.is_ours for node in nodes)
        now = self.process.clock.now()
        self._uses.see(nodes, now=now)
        try:
            ceiling = self.seasons.ceiling()
            taken_back = {one for one in await self.journal.tombstones() if one.path == PATH}
        except CeilingUnknownError as error:
            return str(error)
        except StoreUnavailableError as failure:
            return f"the journal: {failure.reason}"
        here = {node.uid for node in nodes}
        self._stepped = {uid: at for uid, at in self._stepped.items() if uid in here}
        left, oversold = MOST_AT_ONCE, 0
        verdicts: list[NodeVerdict] = []
        # Those that have a ratio keep their place among those that may.
        in_turn = sorted(nodes, key=lambda one: (one.ratio is None, one.name))
        for number, node in enumerate(in_turn, 1):
            if number % AT_ONCE == 0:
                await self.process.clock.sleep(0)
            self._watch_for_others(node)
            policy = next((one for one in policies if one.nodes.matches(node.labels)), None)
            rules = self._rules(policy, ceiling)
            back = tombstone_of(node.name) in taken_back
            wanted, verdict = self._decide(node, policy, rules, oversold, is_taken_back=back)
            # One that gains nothing takes no other's place.
            oversold += wanted is not None and (wanted > ONE or node.ratio is not None)
            if wanted is None and policy is None and self.policies.faulty():
                # One of those that are left aside may be for it.
                wanted = node.ratio
            if left and self._is_due(node, wanted):
                left -= 1
                verdict = await self._bring(node, wanted, verdict, policy)
            verdicts.append(verdict)
        self.verdicts, self.at = sorted(verdicts, key=lambda one: one.name), now
        self._count()
        return ""

    def _rules(self, policy: SoundOversell | None, ceiling: int | None) -> RatioRules:
        if policy is None:
            return RatioRules(asked=MOST, ceiling=ceiling, minute_s=self.minute_s)
        return RatioRules(
            asked=policy.asked,
            ceiling=ceiling,
            cpu_percent=policy.bounds.cpu_percent,
            waiting_percent=policy.bounds.waiting_percent,
            reserve_millis=policy.reserve_millis,
            minute_s=self.minute_s,
        )

    def _decide(
        self,
        node: ObservedNode,
        policy: SoundOversell | None,
        rules: RatioRules,
        oversold: int,
        *,
        is_taken_back: bool,
    ) -> tuple[int | None, NodeVerdict]:
        """The ratio that is to stand there; None: nothing."""
        load = self._uses.load(node, now=self.process.clock.now())
        standing = node.ratio or ONE
        if load is None:
            return node.ratio, self._verdict(node, policy, standing, "not_counted")
        now = self.process.clock.monotonic()
        if node.ratio is not None:
            # After a restart nobody knows when it was changed: it counts from now on.
            self._stepped.setdefault(node.uid, now)
        changed = self._stepped.get(node.uid)
        known = StandingRatio(
            ratio=standing,
            stepped_s=None if changed is None else now - changed,
            is_taken_back=is_taken_back,
        )
        found = ratio_for(load, rules, known)
        could = allowed_by_use(load, rules)
        why: Reason | None = None
        if policy is None:
            why = "unselected"
        elif policy.mode == "Preview":
            why = "preview"
        elif not node.is_enabled:
            why = "not_enabled"
        elif oversold >= self.most:
            why = "most"
        used, waiting = load.used_millis, load.waiting
        if why is not None:
            ratio = ONE if policy is None else self._in_the_end(could, rules, found)
            return None, self._verdict(node, policy, ratio, why, could, used, waiting)
        return found.ratio, self._verdict(
            node, policy, found.ratio, found.reason, could, used, waiting
        )

    @staticmethod
    def _in_the_end(could: int | None, rules: RatioRules, found: WantedRatio) -> int:
        """Where nothing is written there are no steps: it says what they would lead to."""
        if could is None or found.reason not in ("stepping", "use", "asked", "season"):
            return found.ratio
        return max(ONE, min(could, rules.asked, MOST if rules.ceiling is None else rules.ceiling))

    def _verdict(
        self,
        node: ObservedNode,
        policy: SoundOversell | None,
        ratio: int,
        reason: Reason,
        could: int | None = None,
        used: int | None = None,
        waiting: float | None = None,
    ) -> NodeVerdict:
        raw, said = node.raw_millis or 0, node.allocatable_millis or 0
        standing = node.ratio or ONE
        note = ""
        if node.is_enabled and node.ratio is not None and said != amplified(raw, standing):
            note = NOT_APPLIED
        elif raw and node.requested_millis > raw:
            note = OVER
        return NodeVerdict(
            name=node.name,
            raw_millis=raw,
            allocatable_millis=said,
            requested_millis=node.requested_millis,
            used_millis=used,
            waiting=waiting,
            policy="" if policy is None else policy.name,
            asked=None if policy is None else policy.asked,
            standing=standing,
            ratio=ratio,
            could=could,
            reason=reason,
            note=note,
        )

    def _is_due(self, node: ObservedNode, wanted: int | None) -> bool:
        if wanted is None:
            return node.is_ours
        # Where nothing stands and nothing is to be gained, nothing is written.
        return node.ratio != wanted and not (node.ratio is None and wanted == ONE)

    def _watch_for_others(self, node: ObservedNode) -> None:
        now = self.process.clock.monotonic()
        if self._disputes.see(node.uid, PATH, node.ratio_text, now=now):
            log.warning("oversell_disputed", {names.NODE: node.name, names.REASON: DISPUTED})
            self.nodes.notify(node, DISPUTED)

    async def _bring(
        self,
        node: ObservedNode,
        wanted: int | None,
        verdict: NodeVerdict,
        policy: SoundOversell | None,
    ) -> NodeVerdict:
        now = self.process.clock.monotonic()
        text = None if wanted is None else ratio_text(wanted)
        if self._disputes.is_left_alone(node.uid, PATH, now=now):
            return _with(verdict, "disputed")
        if self._refused_at is not None and now - self._refused_at < AGAIN_S:
            return _with(verdict, "refused")
        meter, why = (
            self.process.meter,
            verdict.why if wanted is None else SENTENCES[verdict.reason],
        )
        try:
            await self.journal.add(self._decision(node, text, why, policy))
            if not await self.nodes.write(node, wanted):
                meter.count(names.OVERSELL_WRITES, result="changed")
                return verdict
        except StoreUnavailableError as failure:
            log.warning("oversell_not_written", {names.REASON: failure.reason})
            return verdict
        except NodeRefusedError as error:
            self._refused_at = now
            meter.count(names.OVERSELL_WRITES, result="refused")
            log.warning("oversell_not_written", {names.NODE: node.name, names.ERROR: error})
            return _with(verdict, "refused")
        self._stepped[node.uid] = now
        self._disputes.wrote(node.uid, PATH, text)
        result = (
            "removed" if wanted is None else "raised" if wanted > (node.ratio or ONE) else "lowered"
        )
        meter.count(names.OVERSELL_WRITES, result=result)
        said = f"{node.ratio_text or '1.00'} to {text or '1.00'}: {why}"
        log.info("oversell_written", {names.NODE: node.name, names.REASON: said})
        return verdict

    def _decision(
        self, node: ObservedNode, text: str | None, why: str, policy: SoundOversell | None
    ) -> Decision:
        before = node.ratio_text
        edit = Edit(
            path=PATH,
            before=() if before is None else (before[:64],),
            after=() if text is None else (text,),
            verb=VERB,
            policy="" if policy is None else policy.name,
            reason=why,
        )
        return Decision(
            id=self.fresh(),
            at=self.process.clock.now(),
            request_uid="",
            operation="LIVE",
            mode="apply",
            subject=Subject(
                api_version="v1", kind=KIND, namespace="", name=node.name, uid=node.uid
            ),
            edits=(edit,),
        )

    def _count(self) -> None:
        found: Mapping[str, int] = Counter(one.reason for one in self.verdicts)
        for reason in SENTENCES:
            self.process.meter.gauge(names.OVERSOLD_NODES, found.get(reason, 0), reason=reason)


def tombstone_of(node: str) -> Tombstone:
    return Tombstone("", KIND, node, PATH)


def _with(verdict: NodeVerdict, reason: Reason) -> NodeVerdict:
    return replace(verdict, reason=reason, ratio=verdict.standing)
