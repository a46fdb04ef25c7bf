"""What installing needs of the world."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from nemutator_ctl.installation.object_paths import ObjectPlace


class InstalledObjects(Protocol):
    """The objects of a cluster. What it cannot do otherwise is an `OperatorError`."""

    def get(self, place: ObjectPlace) -> dict[str, Any] | None: ...

    def apply(self, document: dict[str, Any], *, force: bool, dry_run: bool) -> dict[str, Any]:
        """Server-side; raises FieldConflictError and KindUnknownError."""
        ...

    def merge(self, place: ObjectPlace, patch: dict[str, Any]) -> bool:
        """A merge patch of it; False: it is not the one any more whose resourceVersion the patch names."""
        ...

    def delete(self, place: ObjectPlace, *, dry_run: bool) -> bool:
        """Whether it was there. It is gone once its own parts are."""
        ...

    def pods(
        self, *, namespace: str = "", labels: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Of one namespace, or of all."""
        ...

    def nodes(self) -> Iterator[dict[str, Any]]: ...

    def autoscalers(self) -> Iterator[dict[str, Any]]:
        """The HorizontalPodAutoscalers of all namespaces."""
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
