"""An object as it is now, and what can keep it from being read or written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nemutator_controller.database.failures import AGAIN
from nemutator_controller.mutations.decisions import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveObject:
    subject: Subject
    """With its real name."""
    document: Mapping[str, Any] = field(repr=False)
    version: str
    """Changes whenever the object does."""


class ChangedError(Exception):
    """It is not as it was when it was read: read it again."""


class ObjectRefusedError(Exception):
    """Whoever keeps the object says no; asking again does not help."""


class UnreachableError(Exception):
    """Whoever keeps the object does not answer now; *remedy*, when a person must mend that."""

    def __init__(self, what: str, *, remedy: str = AGAIN) -> None:
        super().__init__(what)
        self.remedy = remedy
