"""What exports need from others."""

from typing import Protocol


class ExportSource(Protocol):
    @property
    def name(self) -> str:
        """What it is called in settings and keys."""
        ...

    @property
    def of_the_past(self) -> bool:
        """Whether it can still say of an hour that ended long ago what it said then."""
        ...

    @property
    def ending(self) -> str:
        """Of its files: `csv.gz` or `jsonl.gz`."""
        ...

    async def content(self, begin: float, end: float) -> bytes | None:
        """The file of that hour, empty where there is nothing to say of it; None: it is not complete yet.

        Raises `StoreUnavailableError`.
        """
        ...
