"""Which value holds where in a function, as Go's table has it: decoded as far as was asked, and once."""

from array import array
from bisect import bisect_right

from nemutator_agent.profiler.symbols.image import DamagedError, Image

_SIZES = (256, 4096, 1 << 16, 1 << 19)
"""How much of the file is read: most tables have less than a hundred bytes."""

_LARGEST_VALUE = 1 << 31
_QUERY_EFFORT = 16


class ValueTable:
    """Pairs of numbers: how the value changes, in zigzag, and for how long it then holds."""

    def __init__(self, image: Image, position: int, *, quantum: int) -> None:
        self._image = image
        self._position = position
        self._quantum = quantum
        self._sizes = iter(_SIZES)
        self._raw = b""
        self._at = 0
        self._ended = False
        # Numbers of a stranger's file: as objects they would take five times as much.
        self._ends, self._values = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._ends)

    def value(self, distance: int) -> int:
        """The value that holds at a distance from the entry; -1 where there is none."""
        self._image.effort.spend(_QUERY_EFFORT)
        number = bisect_right(self._ends, distance)
        if number == len(self._ends):
            if not self._decode(distance):
                return -1
            number = len(self._ends) - 1
        value = self._values[number]
        if not -_LARGEST_VALUE <= value < _LARGEST_VALUE:
            raise DamagedError("a value cannot be read")
        return value

    def _decode(self, distance: int) -> bool:
        """Go on until a value holds there; false where the table ends before."""
        while not self._ended:
            begun = self._at
            try:
                if self._decode_read(distance):
                    return True
            except IndexError:
                self._read_more()
            finally:
                self._image.effort.spend(self._at - begun)
        return False

    def _read_more(self) -> None:
        size = next(self._sizes, 0)
        had = len(self._raw)
        self._raw = self._image.read(self._position, size)
        if len(self._raw) <= had:
            raise DamagedError("a table of values has no end")

    def _decode_read(self, distance: int) -> bool:
        raw, at, quantum = self._raw, self._at, self._quantum
        value = self._values[-1] if self._values else -1
        end = self._ends[-1] if self._ends else 0
        while True:
            change, after = raw[at], at + 1
            if change > 0x7F:
                change, after = _long(raw, at)
            if change == 0 and at:
                self._ended = True
                return False
            run = raw[after]
            after += 1
            if run > 0x7F:
                run, after = _long(raw, after - 1)
            value += -(change >> 1) - 1 if change & 1 else change >> 1
            end += run * quantum
            self._values.append(value)
            self._ends.append(end)
            self._at = at = after
            if distance < end:
                return True


def _long(raw: bytes, at: int) -> tuple[int, int]:
    """A number of several bytes, and where the next one begins."""
    value = shift = 0
    for place in range(at, at + 5):
        byte = raw[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise DamagedError("a number has no end")
