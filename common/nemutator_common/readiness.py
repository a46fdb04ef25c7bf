"""Why a process is not ready: `/readyz` shows it."""

from collections.abc import Mapping
from types import MappingProxyType


class Readiness:
    """A process is ready when no part has a problem. A part that never reported one has none."""

    def __init__(self) -> None:
        self._problems: dict[str, str] = {}
        self._notes: dict[str, str] = {}

    def fail(self, part: str, why: str) -> None:
        self._problems[part] = why

    def pass_(self, part: str) -> None:
        self._problems.pop(part, None)

    def problems(self) -> Mapping[str, str]:
        """The reason of each part that is not ready; empty when the process is ready."""
        return MappingProxyType(self._problems)

    def note(self, part: str, what: str) -> None:
        """*part* works, and its operator should know *what*."""
        self._notes[part] = what

    def notes(self) -> Mapping[str, str]:
        return MappingProxyType(self._notes)
