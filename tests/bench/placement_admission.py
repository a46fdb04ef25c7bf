"""The outlet for schedulers that nobody may touch: labels of nodes, and what admission adds to pods, as a brain has both.

The policy prefers nodes of grade 4 and 3 as the guide's does, keeps pods of one workload apart, and near whom they talk to.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_controller.admission.snapshots import talkers_from
from nemutator_controller.app.node_marks import USUAL_POD
from nemutator_controller.hysteresis import DOWN_TIMES
from nemutator_controller.kube.resources import WATCHED_NODES
from nemutator_controller.mutations.advisor import WorkloadRef
from nemutator_controller.mutations.affinity import AffinityRules, apply
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.talkers import NO_TALKERS, Talkers
from nemutator_controller.node_marks.marks import MarkedNode
from nemutator_controller.node_marks.wishes import PlacementMarks
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.scores import scores
from nemutator_controller.placement.talker_grades import TalkerGrades

from tests.hollow import writes
from tests.hollow.plan import Life
from tests.hollow.sending import Sender

GRADE = str(names.PLACEMENT_GRADE)
RULES = msgspec.convert(
    {
        "nodeAffinity": {
            "preferred": [
                {
                    "weight": weight,
                    "matchExpressions": [{"key": GRADE, "operator": "In", "values": [grade]}],
                }
                for grade, weight in (("4", 100), ("3", 50))
            ]
        },
        "familiars": 50,
        "talkers": 80,
    },
    AffinityRules,
)


@dataclass
class AdmissionOutlet:
    marks: PlacementMarks = field(default_factory=PlacementMarks)
    grades: TalkerGrades = field(default_factory=TalkerGrades)
    talkers: Talkers = NO_TALKERS
    labels: dict[str, str] = field(default_factory=dict)

    async def step(self, found: NodesSnapshot, sender: Sender) -> None:
        """Minutes have passed since the last one."""
        scored = dict(zip(found.names, scores(found, USUAL_POD).tolist(), strict=True))
        for _ in range(DOWN_TIMES):
            self.marks.see(scored)
            self.grades.see(found)
        self.talkers = talkers_from(msgspec.json.encode(self.grades.told(found)))
        changed = {
            name: grade
            for name in found.names
            if (grade := self._grade(name)) != self.labels.get(name)
        }
        await sender.each(changed.items(), _labelling(sender))
        self.labels |= changed

    def affinity(self, life: Life, manifest: Any) -> Any:
        """What admission makes of the affinity of a pod."""
        workload = WorkloadRef(life.workload.namespace, "Deployment", life.workload.name)
        draft = Draft(manifest, "Pod")
        apply(draft, RULES, policy="bench", talkers=self.talkers.of(workload))
        return draft.manifest["spec"].get("affinity", {})

    def _grade(self, name: str) -> str:
        wanted = self.marks.wanted(MarkedNode(name=name, uid="", version=""))
        return "" if wanted is None else wanted.labels.get(GRADE, "")


def _labelling(sender: Sender) -> Callable[[tuple[str, str]], Coroutine[Any, Any, None]]:
    async def write(one: tuple[str, str]) -> None:
        name, grade = one
        change = {"metadata": {"labels": {GRADE: grade or None}}}
        await sender.send(writes.patch(WATCHED_NODES, "", name, change))

    return write
