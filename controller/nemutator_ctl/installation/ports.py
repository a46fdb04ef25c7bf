"""What installing needs of the world."""

from collections.abc import Mapping
from typing import Any, Protocol

from nemutator_ctl.installation.object_paths import ObjectPlace


class InstalledObjects(Protocol):
    """The objects of a cluster. What it cannot do otherwise is an `OperatorError`."""

    def get(self, place: ObjectPlace) -> dict[str, Any] | None: ...

    def apply(self, document: dict[str, Any], *, force: bool, dry_run: bool) -> dict[str, Any]:
        """Server-side; raises FieldConflictError and KindUnknownError."""
        ...

    def merge(self, place: ObjectPlace, patch: dict[str, Any]) -> None:
        """A merge patch of it."""
        ...

    def delete(self, place: ObjectPlace, *, dry_run: bool) -> bool:
        """Whether it was there. It is gone once its own parts are."""
        ...

    def pods(
        self, *, namespace: str = "", labels: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Of one namespace, or of all."""
        ...


class Patience(Protocol):
    def monotonic(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class Listener(Protocol):
    """The person who waits."""

    def say(self, text: str) -> None:
        """What is waited for, on standard error."""
        ...

    def done(self, place: ObjectPlace, outcome: str, document: dict[str, Any] | None) -> None:
        """What became of one object."""
        ...
