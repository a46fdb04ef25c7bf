"""Whether a policy is for a pod."""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from nemutator_controller.mutations.globs import fits, fits_any
from nemutator_controller.policies.model import Policy

_NONE: Mapping[str, object] = MappingProxyType({})


class CandidatePod(msgspec.Struct, frozen=True, kw_only=True):
    """What policies can see of a pod, or of an object that makes pods."""

    namespace: str
    namespace_labels: Mapping[str, str] | None
    """None: the namespace is so new that no watch has shown it yet."""
    labels: Mapping[str, str]
    names: tuple[str, ...]
    """Its own name, or the beginning of a generated one, and its workload's."""
    workload: tuple[str, str] = ("", "")
    """Kind and name of what makes it; without that its own."""
    annotations: Mapping[str, object] = _NONE
    images: tuple[str, ...] | None = ()
    """Repositories in full; None: they are not known yet, and may be any."""
    user: str = ""
    """Who creates it; empty: nobody is known."""
    object: tuple[Any, str] | None = None
    """Manifest and kind; None: they are not known yet, and may be any."""


def matches(policy: Policy, pod: CandidatePod) -> bool:
    return names_namespace(policy, pod.namespace) and matches_there(policy, pod)


def matches_there(policy: Policy, pod: CandidatePod) -> bool:
    """The same for a pod of a namespace that *policy* names."""
    match = policy.spec.match
    # Most policies ask for little of this.
    return (
        not (match.names or match.excluded_names)
        or _selected(match.names, match.excluded_names, pod.names)
    ) and (
        (not policy.namespaces.requirements or _namespace_matches(policy, pod))
        and (not policy.pods.requirements or policy.pods.matches(pod.labels))
        and (not policy.narrowed or _narrow(policy, pod))
    )


def names_namespace(policy: Policy, namespace: str) -> bool:
    """Whether the globs of *policy* on names of namespaces let it be for *namespace*."""
    match = policy.spec.match
    return _selected(match.namespaces, match.excluded_namespaces, (namespace,))


def is_in_share(policy: str, pod: CandidatePod, percent: int) -> bool:
    """Whether the pod's workload is among the *percent* of all: a larger share has the same ones, too."""
    words = "\0".join((policy, pod.namespace, *pod.workload))
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % 100 < percent


def _narrow(policy: Policy, pod: CandidatePod) -> bool:
    match = policy.spec.match
    return (
        (not match.owner_kinds or _selected(match.owner_kinds, (), pod.workload[:1]))
        and (not match.users or _selected(match.users, (), (pod.user,) if pod.user else ()))
        and (not match.images or pod.images is None or _selected(match.images, (), pod.images))
        and all(
            isinstance(text := pod.annotations.get(key), str) and fits(text, glob)
            for key, glob in match.annotations.items()
        )
        and (pod.object is None or all(holds(*pod.object) for holds in policy.conditions))
        and (match.percent is None or is_in_share(policy.name, pod, match.percent))
    )


def _namespace_matches(policy: Policy, pod: CandidatePod) -> bool:
    # When the labels are unknown, the pod stays as it is.
    return pod.namespace_labels is not None and policy.namespaces.matches(pod.namespace_labels)


def _selected(wanted: Sequence[str], excluded: Sequence[str], names: Sequence[str]) -> bool:
    if excluded and any(fits_any(name, excluded) for name in names):
        return False
    return not wanted or any(fits_any(name, wanted) for name in names)
