"""Policies as they are at one moment, so that a later change of one is noticed."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from nemutator_controller.journal.records import KeptTombstone


def revision_of(spec: Any) -> str:
    """A text that is another one for every other content of a policy."""
    content = msgspec.json.encode(spec, order="deterministic")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def is_outdated(kept: KeptTombstone, revisions: Mapping[str, str]) -> bool:
    """Whether the policy whose edit was taken back is not the same any more."""
    now = revisions.get(kept.policy)
    return bool(kept.revision) and now is not None and now != kept.revision
