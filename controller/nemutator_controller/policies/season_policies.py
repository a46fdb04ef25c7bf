"""SeasonPolicy, the custom resource: a named brain, which is how the parts of nemutator behave in a season.

The typed model is the one source: the CustomResourceDefinition is made from it (`season_crds.py`). Policies are
checked here again, because the API server may have stored one before it had this schema.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec

from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.model import GROUP, VERSION, PolicyError
from nemutator_controller.policies.time_windows import When, when_faults

SEASON_KIND = "SeasonPolicy"
SEASON_PLURAL = "seasonpolicies"
SEASON_API_VERSION = f"{GROUP}/{VERSION}"

Permitted = Literal["Allow", "Hold"]


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A misspelt field is an error, because ignoring it would silently do less than was asked."""


class SeasonAdvice(_Strict, frozen=True):
    """How advice is made, for all workloads; what is absent stays as the settings say."""

    cpu_percentile: Annotated[int, msgspec.Meta(ge=50, le=100)] | None = None
    memory_buffer_percent: Annotated[int, msgspec.Meta(ge=0, le=500)] | None = None


class SeasonBuffer(_Strict, frozen=True):
    """Room that is kept free, as pods that any other takes the place of; one of the two."""

    pods: Annotated[int, msgspec.Meta(ge=0, le=1_000)] | None = None
    forecast_percent: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = None
    """Of the CPU that the cluster is expected to use more within the lead than it does now."""


class SeasonAggressors(_Strict, frozen=True):
    """Pods that are in others' way, and what becomes of them."""

    grade: Annotated[int, msgspec.Meta(ge=1, le=4)]
    mode: Literal["Preview", "Apply"] = "Preview"
    """Apply: they are evicted, within the budgets of evictions."""


class SeasonOversell(_Strict, frozen=True):
    """How much the pods of a node may use together by their limits, in what it has for them; one at least."""

    cpu_percent: Annotated[int, msgspec.Meta(ge=100, le=10_000)] | None = None
    memory_percent: Annotated[int, msgspec.Meta(ge=100, le=10_000)] | None = None


class SeasonSpec(_Strict, frozen=True):
    when: When
    advice: SeasonAdvice = SeasonAdvice()
    resizes: Permitted = "Allow"
    """Hold: no pod is resized, or sized at its creation by mode Initial, whatever SizingPolicies say."""
    evictions: Permitted = "Allow"
    """Hold: evictions that were asked for wait, and may expire."""
    buffer: SeasonBuffer | None = None
    reserve: Literal["Open", "Closed"] = "Closed"
    placement: Literal["Pack", "Spread"] | None = None
    """How nodes are scored, whatever the season; Pack: and nodes are emptied."""
    aggressors: SeasonAggressors | None = None
    oversell: SeasonOversell | None = None
    """The ceiling up to which nodes are packed."""


class SoundBrain(msgspec.Struct, frozen=True, kw_only=True):
    """A SeasonPolicy without faults."""

    name: str
    spec: SeasonSpec


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What all brains that are in force come to."""

    cpu_percentile: float | None = None
    memory_buffer: float | None = None
    holds_resizes: str = ""
    """The name of a brain that does; empty: none."""
    holds_evictions: str = ""
    buffer: SeasonBuffer | None = None
    buffer_by: str = ""
    """The name of the brain that wants it."""
    opens_reserve: str = ""
    placement: str = ""
    """Pack or Spread; empty: as the season has it."""
    packs_by: str = ""
    """The name of the brain that packs."""
    aggressors: SeasonAggressors | None = None
    aggressors_by: str = ""
    oversell: SeasonOversell | None = None


def season_policy_of(name: str, spec: Any) -> SoundBrain:
    """The policy *name* with the decoded *spec*, or a `PolicyError` that names every fault."""
    try:
        typed = msgspec.convert(spec, SeasonSpec)
    except msgspec.ValidationError as error:
        fault = explained(str(error), spec, SeasonSpec, root="spec")
        raise PolicyError((f"{fault}; see kubectl explain {SEASON_PLURAL}.spec"[:512],)) from error
    except RecursionError as error:
        raise PolicyError(("spec: nested too deeply",)) from error
    if faults := tuple(_faults(typed)):
        raise PolicyError(faults)
    return SoundBrain(name=name, spec=typed)


def behaviour_of(brains: Iterable[SoundBrain], in_force: frozenset[str]) -> Behaviour:
    """Of several that say the same, the first by name counts; and whoever holds something back wins."""
    chosen = sorted((one for one in brains if one.name in in_force), key=lambda one: one.name)
    percentiles = (one.spec.advice.cpu_percentile for one in chosen)
    margins = (one.spec.advice.memory_buffer_percent for one in chosen)
    placing = next((one for one in chosen if one.spec.placement is not None), None)
    packs = placing is not None and placing.spec.placement == "Pack"
    buffering = next((one for one in chosen if one.spec.buffer is not None), None)
    separating = next((one for one in chosen if one.spec.aggressors is not None), None)
    return Behaviour(
        cpu_percentile=next((float(one) for one in percentiles if one is not None), None),
        memory_buffer=next((float(one) for one in margins if one is not None), None),
        holds_resizes=next((one.name for one in chosen if one.spec.resizes == "Hold"), ""),
        holds_evictions=next((one.name for one in chosen if one.spec.evictions == "Hold"), ""),
        placement="" if placing is None else placing.spec.placement or "",
        packs_by=placing.name if placing is not None and packs else "",
        opens_reserve=next((one.name for one in chosen if one.spec.reserve == "Open"), ""),
        buffer=None if buffering is None else buffering.spec.buffer,
        buffer_by="" if buffering is None else buffering.name,
        aggressors=None if separating is None else separating.spec.aggressors,
        aggressors_by="" if separating is None else separating.name,
        oversell=_lowest([one.spec.oversell for one in chosen if one.spec.oversell is not None]),
    )


def _lowest(ceilings: Sequence[SeasonOversell]) -> SeasonOversell | None:
    """A ceiling holds something back: of several the lowest counts."""
    if not ceilings:
        return None
    cpu = [one.cpu_percent for one in ceilings if one.cpu_percent is not None]
    memory = [one.memory_percent for one in ceilings if one.memory_percent is not None]
    return SeasonOversell(
        cpu_percent=min(cpu, default=None), memory_percent=min(memory, default=None)
    )


def _faults(spec: SeasonSpec) -> Iterator[str]:
    yield from (f"spec.when{fault}" for fault in when_faults(spec.when))
    if not spec.when.season:
        yield "spec.when.season: name at least one: a brain is that of a season"
    if spec.when.windows:
        yield "spec.when.windows: a brain follows its season alone"
    oversell = spec.oversell
    if oversell is not None and oversell.cpu_percent is None and oversell.memory_percent is None:
        yield "spec.oversell: name cpuPercent, memoryPercent or both"
    buffer = spec.buffer
    if buffer is not None and (buffer.pods is None) == (buffer.forecast_percent is None):
        yield "spec.buffer: name one of pods and forecastPercent"
