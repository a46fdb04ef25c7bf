"""An object as it is now, and why it may not be read or written."""

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
    """The object has changed since it was read, so it has to be read again."""


class ObjectRefusedError(Exception):
    """The API server or the disk refuses, and asking again does not help."""


class UnreachableError(Exception):
    """The API server or the disk does not answer now; *remedy*: what a person must do about it.

    *full*: only more room on a disk helps.
    """

    def __init__(self, what: str, *, remedy: str = AGAIN, full: bool = False) -> None:
        super().__init__(what)
        self.remedy = remedy
        self.full = full
