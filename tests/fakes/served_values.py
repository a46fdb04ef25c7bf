"""What one volume's pod was given last, in memory."""

from collections.abc import Collection


class MemoryServed:
    """A `RemembersServed`."""

    def __init__(self) -> None:
        self._digests: dict[tuple[str, str], bytes] = {}

    def references(self) -> Collection[tuple[str, str]]:
        return list(self._digests)

    def is_same(self, name: str, reference: str, digest: bytes) -> bool | None:
        known = self._digests.get((name, reference))
        return None if known is None else known == digest

    def put(self, name: str, reference: str, digest: bytes) -> None:
        self._digests[name, reference] = digest
