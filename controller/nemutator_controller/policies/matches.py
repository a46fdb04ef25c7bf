"""Whether a policy is for a pod."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nemutator_controller.policies.model import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePod:
    """What policies can see of a pod, or of an object that makes pods."""

    namespace: str
    namespace_labels: Mapping[str, str] | None
    """None: the namespace is so new that no watch has shown it yet."""
    labels: Mapping[str, str]
    names: tuple[str, ...]
    """Its own name, or the beginning of a generated one, and its workload's."""


def matches(policy: Policy, pod: CandidatePod) -> bool:
    match = policy.spec.match
    return (
        _selected(match.namespaces, match.excluded_namespaces, (pod.namespace,))
        and _selected(match.names, match.excluded_names, pod.names)
        and _namespace_matches(policy, pod)
        and policy.pods.matches(pod.labels)
    )


def _namespace_matches(policy: Policy, pod: CandidatePod) -> bool:
    if not policy.namespaces.requirements:
        return True
    # When the labels are unknown, the pod stays as it is.
    return pod.namespace_labels is not None and policy.namespaces.matches(pod.namespace_labels)


def _selected(wanted: Iterable[str], excluded: Iterable[str], names: tuple[str, ...]) -> bool:
    if any(fnmatchcase(name, glob) for glob in excluded for name in names):
        return False
    globs = tuple(wanted)
    return not globs or any(fnmatchcase(name, glob) for glob in globs for name in names)
