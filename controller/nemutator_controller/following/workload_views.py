"""A workload as policies for pods see it: pure.

Policies choose it by its template, as they choose its pods; what they say is then about its own metadata.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec
from nemutator_common import names

from nemutator_controller.kube.label_selectors import Selector
from nemutator_controller.mutations import annotations, labels
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.paths import AROUND, Json, field_path
from nemutator_controller.policies.model import Match, Policy
from nemutator_controller.policies.plans import Situation

POD = "Pod"

_VERBS = frozenset({labels.VERB, annotations.VERB})
_SKIPS = (names.SKIP, names.SKIP_MUTATION)


def as_pod(workload: Json, kind: str) -> Json:
    """A pod with the labels and annotations of *workload* itself, and with no containers."""
    own = workload["metadata"]
    [template] = Draft(workload, kind).value(field_path("metadata", "annotations")) or ({},)
    # Who does not want the pods changed does not want this, either.
    skips = {key: text for key, text in (template or {}).items() if key in _SKIPS}
    metadata = {
        "name": own.get("name"),
        "namespace": own.get("namespace"),
        "labels": own.get("labels") or {},
        "annotations": skips | (own.get("annotations") or {}),
    }
    return {"apiVersion": "v1", "kind": POD, "metadata": metadata, "spec": {"containers": []}}


def situation_as_pod(situation: Situation) -> Situation:
    """That of `as_pod`. Nobody finds it by its labels, so all of them may change."""
    subject = replace(situation.subject, api_version="v1", kind=POD, owner_kind="", owner_name="")
    taken_back = frozenset(
        path.removeprefix(AROUND) for path in situation.reversed if path.startswith(AROUND)
    )
    return msgspec.structs.replace(
        situation, subject=subject, reversed=taken_back, unwanted=frozenset()
    )


def for_metadata(policies: Iterable[Policy]) -> Sequence[Policy]:
    """What *policies* that are for a workload's template say of labels and annotations."""
    return [
        msgspec.structs.replace(
            each,
            spec=msgspec.structs.replace(each.spec, match=Match()),
            namespaces=Selector(()),
            pods=Selector(()),
            narrowed=False,
            first=(),
            actions=tuple(one for one in each.actions if one.verb in _VERBS),
        )
        for each in policies
    ]
