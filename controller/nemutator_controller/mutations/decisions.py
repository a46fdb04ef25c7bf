"""What admission did to an object, as it is spooled, shipped, journaled and taken back: data only.

A value that may be absent is a tuple of no value or one, so that JSON `null` stays a value.
"""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

Maybe = tuple[Any, ...]
"""A tuple of no value or one."""


# Its values are decoded JSON, which has no cycles; admission keeps tens of thousands of edits.
class Edit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A change of one field, which is found again when lists have changed their order."""

    path: str
    """`containers[name=app].resources.requests.cpu`, `metadata.labels[team]`."""
    before: Maybe
    after: Maybe
    verb: str
    """The kind of mutation: one of the words of `skip-mutation`."""
    policy: str
    """The name of the MutationPolicy, `injection`, or `tokens`, where no policy has written the placeholder."""
    reason: str = ""
    """The reason of this value, for people: `p95 of 212 points`."""
    digest: bool = False
    """Whether the values are keyed digests, because the real ones come from a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The object, as far as it is known while it is created."""

    api_version: str
    kind: str
    namespace: str
    name: str
    """Empty while the server still has to generate one."""
    generate_name: str = ""
    """The beginning of a name that the server generates."""
    uid: str = ""
    owner_kind: str = ""
    owner_name: str = ""
    """The workload at the top of its chain of owners, as far as admission can see it."""


def pod_subject(namespace: str, name: str, uid: str = "") -> Subject:
    """A pod that has its name."""
    return Subject(api_version="v1", kind="Pod", namespace=namespace, name=name, uid=uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One response of admission that changed something, or would have."""

    id: str
    at: float
    request_uid: str
    operation: str
    mode: Literal["apply", "preview", "dry-run"]
    """preview: a policy or the pod wants it computed and logged only."""
    subject: Subject
    edits: tuple[Edit, ...]
    warnings: tuple[str, ...] = ()
    trace: str = ""
    """The id of the trace that it is a part of; empty: nobody collects that."""
    caller: str = ""
    """The address from which admission was asked; empty: the brain has decided it by itself."""
