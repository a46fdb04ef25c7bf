"""The names of the series of all nodes, packed: they are read when a series comes, and seldom again."""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import msgspec
from nemutator_common.wire_columns import SeriesName, SeriesNames

from nemutator_controller.ingest.usage_points import Series

KEPT_NAMINGS = 2
"""Of one epoch: reports that waited may be of the naming before."""

_names = msgspec.json.Decoder(tuple[SeriesName, ...])


class UnknownSeriesError(Exception):
    """Numbers of series came whose names this brain does not have: it was restarted, or has forgotten
    them. The agent asks how many it has, and sends the others again."""


class SeriesTable(Sequence[Series]):
    """The series of one naming, in packs as they came. Objects would take ten times as much memory."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._packs: list[bytes] = []
        self._size = 0
        self._open: tuple[int, tuple[SeriesName, ...]] | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, number: int) -> Series: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Series]: ...

    def __getitem__(self, number: int | slice) -> Series | Sequence[Series]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(self._size))]
        if not 0 <= number < self._size:
            raise IndexError(number)
        pack, opened = bisect_right(self._firsts, number) - 1, self._open
        if opened is None or opened[0] != pack:
            opened = self._open = pack, _names.decode(zlib.decompress(self._packs[pack]))
        return Series(*opened[1][number - self._firsts[pack]])

    def __iter__(self) -> Iterator[Series]:
        """Leaves nothing unpacked. Safe in a thread: packs are added, and never changed."""
        for pack in self._packs:
            for name in _names.decode(zlib.decompress(pack)):
                yield Series(*name)

    def add(self, names: Sequence[SeriesName]) -> None:
        if names:
            self._firsts.append(self._size)
            self._packs.append(zlib.compress(msgspec.json.encode(names), level=1))
            self._size += len(names)

    def close(self) -> None:
        """Forget what was unpacked."""
        self._open = None


@dataclass(slots=True)
class _Epoch:
    name: str
    tables: dict[int, SeriesTable] = field(default_factory=dict)
    """By naming, the last that was named at the end."""


class SeriesTables:
    """Those of the *most_nodes* nodes that were heard of last."""

    def __init__(self, *, most_nodes: int) -> None:
        self._most_nodes = most_nodes
        self._epochs: dict[str, _Epoch] = {}

    def add(self, node: str, epoch: str, names: Sequence[SeriesNames]) -> None:
        """Take *names* in; raises `UnknownSeriesError` when there is a gap before them."""
        known = self._epochs.pop(node, None)
        if known is None or known.name != epoch:
            known = _Epoch(epoch)
        self._epochs[node] = known
        if len(self._epochs) > self._most_nodes:
            del self._epochs[next(iter(self._epochs))]
        for one in names:
            table = known.tables.get(one.naming)
            if one.first > (0 if table is None else len(table)):
                raise UnknownSeriesError
            if table is None:
                table = known.tables[one.naming] = SeriesTable()
            # What it has already is named alike: numbers are given once in a naming.
            table.add(one.names[len(table) - one.first :])
            while len(known.tables) > KEPT_NAMINGS:
                del known.tables[min(known.tables)]

    def table(self, node: str, epoch: str, naming: int) -> SeriesTable:
        """The series of *naming*; raises `UnknownSeriesError`."""
        known = self._epochs.get(node)
        table = known.tables.get(naming) if known is not None and known.name == epoch else None
        if table is None:
            raise UnknownSeriesError
        return table

    def named(self, node: str, epoch: str) -> tuple[int, int]:
        """The newest naming of *epoch*, and how many names of it are here."""
        known = self._epochs.get(node)
        if known is None or known.name != epoch or not known.tables:
            return 0, 0
        newest = max(known.tables)
        return newest, len(known.tables[newest])
