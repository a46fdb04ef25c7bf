"""Which policies are in force, and which of them have to be switched: pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.phases import Season
from nemutator_controller.seasons.records import PolicyKind, PolicySwitch, SeasonedPolicy

Key = tuple[PolicyKind, str]


@dataclass(frozen=True, slots=True)
class SwitchesAfter:
    kept: Mapping[Key, PolicySwitch]
    """All as they are to be, without those that are due."""
    due: tuple[PolicySwitch, ...]
    """Those that have to be journaled first, as they are to be then."""
    freed: tuple[Key, ...]
    """Those that were held, and whose season has come to where they are."""


def switches_after(
    policies: Iterable[SeasonedPolicy],
    season_of: Callable[[Scope], Season],
    before: Mapping[Key, PolicySwitch],
    forgotten: Callable[[Key], bool],
    *,
    now: float,
) -> SwitchesAfter:
    """*forgotten*: whether nobody wants a switch to stay taken back any more."""
    kept: dict[Key, PolicySwitch] = {}
    due: list[PolicySwitch] = []
    freed: list[Key] = []
    for policy in policies:
        season = season_of(policy.of)
        wanted = season in policy.seasons
        known = before.get(policy.key)
        if known is None:
            known = PolicySwitch(
                kind=policy.kind, name=policy.name, in_force=False, since=now, why=""
            )
        why = in_words(policy.of, season)
        if known.held:
            if wanted == known.in_force:
                freed.append(policy.key)
                known = replace(known, held=False)
            elif forgotten(policy.key):
                known = replace(known, held=False)
        if known.held or wanted == known.in_force:
            kept[policy.key] = known if known.why else replace(known, why=why)
        else:
            if policy.key in before:
                kept[policy.key] = known
            due.append(replace(known, in_force=wanted, since=now, why=why))
    return SwitchesAfter(kept, tuple(due), tuple(freed))


def in_words(of: Scope, season: Season) -> str:
    owner = "the cluster" if of == CLUSTER else f"{of[1]} {of[0]}/{of[2]}"
    if season == "unknown":
        return f"the season of {owner} cannot be told"
    if season == "flat":
        return f"{owner} has no seasons"
    return f"the season of {owner} is {season}"
