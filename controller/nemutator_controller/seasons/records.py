"""What is known of seasons, and which policies they switch: data only."""

from dataclasses import dataclass
from typing import Literal

from nemutator_common import names

from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.phases import DayPlan, Season, SeasonState
from nemutator_controller.seasons.verdicts import SeasonVerdict

PolicyKind = Literal["MutationPolicy", "SizingPolicy", "SeasonPolicy"]

NOT_TOLD = SeasonState()

IN_FORCE = f"metadata.annotations[{names.IN_FORCE}]"
"""The path of a switch in the journal. No annotation of the policy is written: it says what the brain does."""
VERB = "season"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSeason:
    """Of one workload, or of all together."""

    verdict: SeasonVerdict
    state: SeasonState = NOT_TOLD
    plan: DayPlan | None = None
    """The day by which its season follows; it may be older than the verdict, when that could not tell."""
    planned_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStep:
    """What has changed of one pod."""

    uid: str
    scope: Scope
    is_new: bool = False
    """Whether its creation was seen, as opposed to a pod that was there before."""
    is_ready: bool = False
    is_gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonedPolicy:
    """A sound policy whose `when` names seasons."""

    kind: PolicyKind
    name: str
    seasons: tuple[Season, ...]
    of: Scope = CLUSTER

    @property
    def key(self) -> tuple[PolicyKind, str]:
        return self.kind, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySwitch:
    """Whether a policy is in force by its season, and since when."""

    kind: PolicyKind
    name: str
    in_force: bool
    since: float
    why: str
    decision: str = ""
    """The journal's record of it; empty: it never was another way."""
    held: bool = False
    """Whether it was taken back: it stays so until its season is the one of this state, or somebody forgets that."""

    @property
    def key(self) -> tuple[PolicyKind, str]:
        return self.kind, self.name
