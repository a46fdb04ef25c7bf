"""Switches policies with their seasons, each switch in the journal before it counts.

`nemutator rollback` takes a switch back like a mutation: the policy stays as it was before until its season comes to
that by itself, or somebody forgets it (`nemutator tombstones`).
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.seasons.ports import (
    KnownSeasonStates,
    SeasonedPolicies,
    SwitchJournal,
    SwitchStore,
)
from nemutator_controller.seasons.records import IN_FORCE, VERB, PolicyKind, PolicySwitch
from nemutator_controller.seasons.switches import Key, switches_after

log = logging.getLogger(__name__)

CHECK_S = 2.0
API_VERSION = f"{names.DOMAIN}/v1alpha1"


@dataclass(slots=True)
class SeasonSwitching:
    seasons: KnownSeasonStates
    policies: SeasonedPolicies
    journal: SwitchJournal
    store: SwitchStore
    process: Process
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    changed: Callable[[], None] = lambda: None
    """Is called after switches have changed."""
    switches: Mapping[Key, PolicySwitch] = field(default_factory=dict, init=False)
    is_settled: bool = field(default=False, init=False)
    """Whether policies and their seasons have been looked at since the start."""
    _is_read: bool = field(default=False, init=False)

    async def restore(self) -> None:
        """Raises `StoreUnavailableError`."""
        self.switches = {one.key: one for one in await self.store.all()}
        self._is_read, self.is_settled = True, False

    async def run_following(self, leads: Callable[[], bool]) -> None:
        """Know what another brain has switched, as long as it *leads* and this one does not."""
        while True:
            if not leads():
                try:
                    await self.follow(leads)
                except StoreUnavailableError as failure:
                    log.warning("season_switches_not_read", {names.REASON: failure.reason})
            await self.process.clock.sleep(CHECK_S)

    async def follow(self, leads: Callable[[], bool]) -> None:
        """Raises `StoreUnavailableError`."""
        # Who asks how to behave asks by these policies.
        await self.policies.sound()
        made = {one.key: one for one in await self.store.all()}
        # Who leads by now knows better than what was read before.
        if not leads() and made != self.switches:
            self.switches = made
            self.changed()

    async def run(self) -> None:
        while True:
            try:
                await self.check()
            except StoreUnavailableError as failure:
                log.warning("seasons_not_switched", {names.REASON: failure.reason})
            await self.process.clock.sleep(CHECK_S)

    def in_force(self, kind: PolicyKind) -> frozenset[str]:
        """The names of the policies of *kind* whose season it is."""
        return frozenset(
            one.name for one in self.switches.values() if one.kind == kind and one.in_force
        )

    async def check(self) -> None:
        if not self._is_read:
            await self.restore()
        policies = await self.policies.sound()
        if policies is None or not self.seasons.is_settled:
            return
        stones: set[Tombstone] = set()
        if any(one.held for one in self.switches.values()):
            stones = set(await self.journal.tombstones())
        now = self.process.clock.now()
        after = switches_after(
            policies,
            self.seasons.season,
            self.switches,
            lambda key: tombstone_of(key) not in stones,
            now=now,
        )
        if after.freed:
            await self.journal.forget([tombstone_of(key) for key in after.freed])
        made = dict(after.kept)
        for due in after.due:
            id_ = self.fresh()
            await self.journal.add(self._decision(id_, due))
            made[due.key] = replace(due, decision=id_)
            log.info(
                "season_switched",
                {names.POLICY: due.name, names.DECISION: id_, names.REASON: due.why},
            )
            self.process.meter.count(
                names.SEASON_SWITCHES, kind=due.kind, to="on" if due.in_force else "off"
            )
        if made != self.switches:
            await self._replace(made)
        self.is_settled = True
        for kind in ("MutationPolicy", "SizingPolicy", "SeasonPolicy"):
            count = sum(one.in_force for one in made.values() if one.kind == kind)
            self.process.meter.gauge(names.POLICIES_IN_SEASON, count, kind=kind)

    async def hold(self, key: Key, *, in_force: bool) -> bool:
        """Have a policy be as it was before its last switch, until its season is that; False: there is none."""
        known = self.switches.get(key)
        if known is None:
            return False
        held = replace(
            known,
            in_force=in_force,
            since=self.process.clock.now(),
            why="its last switch was taken back",
            held=True,
        )
        made = {**self.switches, key: held}
        await self._replace(made)
        return True

    async def _replace(self, made: Mapping[Key, PolicySwitch]) -> None:
        await self.store.replace(list(made.values()))
        self.switches = made
        self.changed()

    def _decision(self, id_: str, due: PolicySwitch) -> Decision:
        edit = Edit(
            path=IN_FORCE,
            before=(_word(not due.in_force),),
            after=(_word(due.in_force),),
            verb=VERB,
            policy=due.name,
            reason=due.why,
        )
        return Decision(
            id=id_,
            at=due.since,
            request_uid="",
            operation="SWITCH",
            mode="apply",
            subject=Subject(api_version=API_VERSION, kind=due.kind, namespace="", name=due.name),
            edits=(edit,),
        )


def tombstone_of(key: Key) -> Tombstone:
    kind, name = key
    return Tombstone("", kind, name, IN_FORCE)


def _word(in_force: bool) -> str:
    return "true" if in_force else "false"
