"""What each strategy would request in the coming hour, from the same recorded steps."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np
from nemutator_common.admission_snapshots import Amounts

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.documents import Advice, Confidence
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.ports import PodKeys
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps
from nemutator_controller.sizing.strategies.known import STRATEGIES, Resource
from nemutator_controller.sizing.strategies.recorded_use import HOUR_S, RecordedUse

MOST_CELLS = 30_000_000
"""Steps of all pods together, of one resource: 240 MB."""

TOO_MUCH = "too many pods for so many days"


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
    cpu, memory = (_next(matrices.use(key, resource), name, resource) for resource in _RESOURCES)
    state: Literal["firm", "not_yet"] = "not_yet" if cpu is None and memory is None else "firm"
    requests = Amounts(
        cpu=None if cpu is None else f"{whole_above(cpu * 1_000)}m",
        memory=None if memory is None else str(whole_above(memory)),
    )
    limits = Amounts(memory=requests.memory if name.startswith(("krr", "seed")) else None)
    return msgspec.structs.replace(
        advice,
        strategy=name,
        state=state,
        reason="" if state == "firm" else f"{name} says nothing with so little data",
        requests=requests,
        limits=limits,
        lower=Amounts(),
        upper=Amounts(),
        confidence=Confidence(),
    )


_RESOURCES: tuple[Resource, Resource] = ("cpu", "memory")


def _next(use: RecordedUse | None, name: str, resource: Resource) -> float | None:
    if use is None or use.hours < 1:
        return None
    strategy = STRATEGIES[name][resource]
    wanted = float(strategy.request(use, strategy.number)[-1])
    return None if math.isnan(wanted) else wanted


def whole_above(amount: float) -> int:
    """Rounded up, but for what is left of arithmetic."""
    return math.ceil(round(amount, 6))
