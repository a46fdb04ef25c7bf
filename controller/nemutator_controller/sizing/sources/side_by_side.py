"""What each strategy would request in the coming hour, from the same recorded steps."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.documents import Advice, Confidence, RecommendedAmounts
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.ports import PodKeys
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps
from nemutator_controller.sizing.strategies.known import STRATEGIES, Resource
from nemutator_controller.sizing.strategies.recorded_use import HOUR_S, RecordedUse

MOST_CELLS = 30_000_000
"""Steps of all pods together, of one resource: 240 MB."""

TOO_MUCH = "too many pods for so many days"

HOURLY = "nemutator-hourly"
"""What `nemutator` means where it is replayed: CPU and memory for the coming hours alone, to be changed in place."""
HOURLY_TRIED = 168
"""Hours: with less it was not tried."""


class TooMuchRecordedError(Exception):
    """For people."""


@dataclass(slots=True)
class PodMatrices:
    """Steps of all pods, from *begin* on."""

    begin: float
    step_s: int
    count: int
    _rows: dict[ContainerKey, dict[str, dict[Resource, Numbers]]] = field(
        default_factory=dict, init=False
    )
    _cells: int = field(default=0, init=False)

    def take(self, steps: RecordedSteps, keys: PodKeys) -> None:
        """Raises `TooMuchRecordedError`."""
        first = round((steps.begin - self.begin) / self.step_s)
        found: tuple[tuple[Resource, Mapping[PodContainer, Numbers]], ...] = (
            ("cpu", steps.cores),
            ("memory", steps.memory),
        )
        for resource, rows in found:
            for of, values in rows.items():
                key = keys.of(of.namespace, of.pod, of.container)
                if key is None:
                    continue
                pod = self._rows.setdefault(key, {}).setdefault(of.pod, {})
                if resource not in pod:
                    self._cells += self.count
                    if self._cells > 2 * MOST_CELLS:
                        raise TooMuchRecordedError(TOO_MUCH)
                    pod[resource] = np.full(self.count, np.nan)
                until = min(self.count, first + steps.count)
                pod[resource][first:until] = values[: until - first]

    def use(self, key: ContainerKey, resource: Resource) -> RecordedUse | None:
        """With an hour after the last one, of which nothing is known: the request for it is asked."""
        rows = [pod[resource] for pod in self._rows.get(key, {}).values() if resource in pod]
        if not rows:
            return None
        per_hour = HOUR_S // self.step_s
        spare = self.count % per_hour
        ahead = np.full((len(rows), per_hour), np.nan)
        return RecordedUse(key.owner, self.step_s, np.hstack([np.stack(rows)[:, spare:], ahead]))


def by_strategy(advice: Iterable[Advice], matrices: PodMatrices, name: str) -> list[Advice]:
    """The rows of *advice* with what *name* requests."""
    return [_by(one, matrices, name) for one in advice]


def _by(advice: Advice, matrices: PodMatrices, name: str) -> Advice:
    key = ContainerKey(advice.namespace, advice.owner_kind, advice.owner, advice.container)
    uses = {resource: matrices.use(key, resource) for resource in _RESOURCES}
    cpu, memory = (_next(uses[resource], name, resource) for resource in _RESOURCES)
    state, reason = _told(name, uses["cpu"], has_any=cpu is not None or memory is not None)
    requests = RecommendedAmounts(
        cpu=None if cpu is None else f"{whole_above(cpu * 1_000)}m",
        memory=None if memory is None else str(whole_above(memory)),
    )
    limits = RecommendedAmounts(
        memory=requests.memory if name.startswith(("krr", "seed")) else None
    )
    return msgspec.structs.replace(
        advice,
        strategy=name,
        state=state,
        reason=reason,
        requests=requests,
        limits=limits,
        lower=RecommendedAmounts(),
        upper=RecommendedAmounts(),
        confidence=Confidence(),
    )


_State = Literal["firm", "provisional", "not_yet"]
_RESOURCES: tuple[Resource, Resource] = ("cpu", "memory")


def _told(name: str, use: RecordedUse | None, *, has_any: bool) -> tuple[_State, str]:
    if not has_any:
        return "not_yet", f"{name} says nothing with so little data"
    if name != HOURLY:
        return "firm", ""
    # Never firm: what is firm can be written into manifests, which stand for weeks.
    coming = "for the coming hours, to be changed in place"
    seen = 0 if use is None else np.count_nonzero(~np.isnan(use.busiest()).all(axis=1))
    untried = "; with less than a week it was not tried" if seen < HOURLY_TRIED else ""
    return "provisional", f"{coming}{untried}"


def _next(use: RecordedUse | None, name: str, resource: Resource) -> float | None:
    if use is None or use.hours < 1:
        return None
    strategy = STRATEGIES["nemutator" if name == HOURLY else name][resource]
    wanted = float(strategy.request(use, strategy.number)[-1])
    return None if math.isnan(wanted) else wanted


def whole_above(amount: float) -> int:
    """Rounded up, but for what is left of arithmetic."""
    return math.ceil(round(amount, 6))
