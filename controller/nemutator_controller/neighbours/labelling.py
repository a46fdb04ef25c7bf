"""Lets the grades of the worst stand on them as labels, and no longer."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.neighbours.labels import (
    GradeLabels,
    LabelledObject,
    NotLabelledError,
    changes,
    labelled,
)
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_controller.neighbours.ports import LabelledObjects
from nemutator_controller.write_disputes import WriteDisputes

log = logging.getLogger(__name__)

EVERY_S = 15.0

MOST_AT_ONCE = 50
"""Objects that are written to in one round: the others have to wait for the next."""

AGAIN_S = 600.0
"""How long an object is left alone that could not be written to."""

DISPUTED = "somebody else changes the label {} whenever nemutator has written it: it is left alone for some time"


@dataclass(slots=True)
class NeighbourLabels:
    """`run` is a task for a Supervisor.

    Each round compares what should stand with what does: labels that another life of the brain has left are put
    right like any other, once there is a verdict on their pod. Until then they stay as they are.
    """

    assessments: NeighbourAssessments
    objects: LabelledObjects
    process: Process
    _disputes: WriteDisputes[LabelledObject] = field(default_factory=WriteDisputes, init=False)
    _failed_at: dict[LabelledObject, float] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(min(EVERY_S, self.assessments.learner.minute_s))

    async def round(self) -> None:
        now, latest = self.process.clock.monotonic(), self.assessments.latest
        for one in [one for one, at in self._failed_at.items() if now - at >= AGAIN_S]:
            del self._failed_at[one]
        if not latest.at:
            return
        wanted = labelled(latest)
        standing = self.objects.standing(list(wanted))
        if standing is None:
            return
        due: list[tuple[LabelledObject, dict[str, str | None]]] = []
        graded = {(each.namespace, each.owner_kind, each.owner) for each in latest.pods}
        for one, labels in standing.items():
            if not wanted.get(one) and not _is_known(one, latest, graded):
                # Nobody can tell: what was told before stands.
                continue
            found = self._undisputed(one, changes(wanted.get(one, {}), labels), labels, now)
            if found and one not in self._failed_at:
                due.append((one, found))
        self.process.meter.gauge(names.NEIGHBOUR_LABELS_DUE, len(due))
        self.process.meter.gauge(
            names.NEIGHBOUR_LABELS_DISPUTED, self._disputes.left_alone(now=now)
        )
        for one, found in due[:MOST_AT_ONCE]:
            await self._write(one, found)

    def _undisputed(
        self,
        one: LabelledObject,
        found: dict[str, str | None],
        standing: GradeLabels,
        now: float,
    ) -> dict[str, str | None]:
        left: dict[str, str | None] = {}
        for label in {*found, *standing}:
            if self._disputes.see(one, label, standing.get(label), now=now):
                note = DISPUTED.format(label)
                log.warning("label_disputed", {names.OBJECT: _name(one), names.REASON: note})
                self.objects.notify(one, note)
            if label in found and not self._disputes.is_left_alone(one, label, now=now):
                left[label] = found[label]
        return left

    async def _write(self, one: LabelledObject, found: dict[str, str | None]) -> None:
        try:
            await self.objects.write(one, found)
        except NotLabelledError as error:
            log.warning("neighbour_not_labelled", {names.OBJECT: _name(one), names.ERROR: error})
            self._failed_at[one] = self.process.clock.monotonic()
            self.process.meter.count(names.NEIGHBOUR_LABELS, result="refused")
            return
        for label, value in found.items():
            self._disputes.wrote(one, label, value)
        self.process.meter.count(names.NEIGHBOUR_LABELS, result="written")


def _is_known(
    one: LabelledObject, latest: Neighbourhood, graded: Collection[tuple[str, str, str]]
) -> bool:
    """Whether one that is to bear no labels is known to deserve none. A workload's go with the last grade of its
    pods, and not while its pods are unknown. *graded*: the workloads of pods with grades."""
    if one.kind == "Pod":
        return one.uid in latest.known_pods
    return bool(latest.known_pods) and (one.namespace, one.kind, one.name) not in graded


def _name(one: LabelledObject) -> str:
    return f"{one.namespace}/{one.name}"
