"""A token store in memory, which can fail."""

from nemutator_controller.tokens.model import TokenSourceError, TokenTable, table_of


class MemoryTokens:
    """A `TokenSource` whose `changed` answers at once."""

    def __init__(self, **values: str) -> None:
        self.values: dict[str, object] = dict(values)
        self.failure: TokenSourceError | None = None
        self.reads = 0
        self._read: dict[str, object] | None = None

    @property
    def name(self) -> str:
        return "memory"

    async def read(self) -> TokenTable:
        if self.failure is not None:
            raise self.failure
        self.reads += 1
        self._read = dict(self.values)
        table = table_of(self._read)
        assert table is not None
        return table

    async def changed(self) -> bool:
        if self.failure is not None:
            raise self.failure
        return self.values != self._read

    def close(self) -> None:
        """Nothing is held open."""

    async def put(self, key: str, value: str | None) -> None:
        if self.failure is not None:
            raise self.failure
        self.values.pop(key, None)
        if value is not None:
            self.values[key] = value
