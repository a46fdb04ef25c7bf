"""Whether a policy, an annotation or a label concerns a pod, from its metadata alone.

None does for most pods of most clusters. Then their spec, nine tenths of a request, is not decoded.
"""

from collections.abc import Iterable
from typing import Any

from nemutator_common import names

from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.plans import Situation

_WORDS = (names.SKIP, names.SKIP_MUTATION)
"""Annotations that a plan may warn about although no policy is for the pod."""


def is_relevant(head: dict[str, Any], situation: Situation, policies: Iterable[Policy]) -> bool:
    """True when in doubt. False: `planning.plan` has nothing to do, to preview, to say, to refuse."""
    metadata = head["metadata"] if head["metadata"] is not None else {}
    if not isinstance(metadata, dict):
        return True
    labels, annotations = (
        {} if metadata.get(field) is None else metadata[field]
        for field in ("labels", "annotations")
    )
    if not isinstance(labels, dict) or not isinstance(annotations, dict):
        return True
    if names.INJECT in labels or any(word in annotations for word in _WORDS):
        return True
    if (situation.namespace_labels or {}).get(names.INJECT) == "enabled":
        return True
    subject = situation.subject
    called = (subject.name or subject.generate_name, subject.owner_name)
    pod = CandidatePod(
        namespace=subject.namespace,
        namespace_labels=situation.namespace_labels,
        labels={key: value for key, value in labels.items() if isinstance(value, str)},
        names=tuple(filter(None, called)),
    )
    return any(matches(policy, pod) for policy in policies)
