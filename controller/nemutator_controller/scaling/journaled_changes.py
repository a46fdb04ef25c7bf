"""A raised minimum as the journal keeps it, so that a person takes it back like any other change: pure.

Taking it back leads to what the owner wrote, whatever we had written before: a minimum between the two is nobody's.
"""

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.kube.resources import AUTOSCALERS
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.scaling.marks import RaisedMark
from nemutator_controller.scaling.records import FoundAutoscaler, ScalerKey

VERB = "scaling"
MINIMUM = "minReplicas"
MARK = f"metadata.annotations[{names.RAISED_MINIMUM}]"
PATHS = (MINIMUM, MARK)


def raising_decision(
    found: FoundAutoscaler, mark: RaisedMark, *, scaler: str, why: str, at: float
) -> Decision:
    edits = (
        Edit(
            path=MINIMUM,
            before=(mark.base,),
            after=(mark.raised,),
            verb=VERB,
            policy=scaler,
            reason=why,
        ),
        Edit(path=MARK, before=(), after=(mark.text,), verb=VERB, policy=scaler),
    )
    return Decision(
        id=mark.decision,
        at=at,
        request_uid="",
        operation="LIVE",
        mode="apply",
        subject=Subject(
            api_version=AUTOSCALERS.api_version,
            kind=AUTOSCALERS.kind,
            namespace=found.namespace,
            name=found.name,
            uid=found.uid,
            owner_kind=AUTOSCALERS.kind,
            owner_name=found.name,
        ),
        edits=edits,
    )


def tombstone_of(target: ScalerKey) -> Tombstone:
    namespace, name = target
    return Tombstone(namespace, AUTOSCALERS.kind, name, MINIMUM)
