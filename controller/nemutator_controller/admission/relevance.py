"""Whether a policy, an annotation or a label concerns a pod, from its metadata alone.

None does for most pods of most clusters. Then the spec, nine tenths of a request, is not decoded.
"""

from collections.abc import Iterable
from typing import Any

from nemutator_common import names

from nemutator_controller.policies.matches import matches
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.namespaces import possible
from nemutator_controller.policies.plans import Situation, candidate


def is_relevant(head: dict[str, Any], situation: Situation, policies: Iterable[Policy]) -> bool:
    """False when `plans.plan` would have no edit, preview, warning or refusal; True when in doubt."""
    metadata = head["metadata"] if head["metadata"] is not None else {}
    if not isinstance(metadata, dict):
        return True
    labels, annotations = (
        {} if metadata.get(field) is None else metadata[field]
        for field in ("labels", "annotations")
    )
    if not isinstance(labels, dict) or not isinstance(annotations, dict):
        return True
    # A plan may warn about these annotations although no policy is for the pod.
    if names.INJECT in labels or names.SKIP in annotations or names.SKIP_MUTATION in annotations:
        return True
    if (situation.namespace_labels or {}).get(names.INJECT) == "enabled":
        return True
    # Images are in the spec: a policy that asks for them may be for this pod.
    pod = candidate(
        situation, {k: text for k, text in labels.items() if isinstance(text, str)}, annotations
    )
    return any(matches(policy, pod) for policy in possible(policies, pod.labels))
