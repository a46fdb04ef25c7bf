"""A record that an agent of `brain-scale` has made once, as it would make it again later.

The agents' core makes fewer reports in a second than the brain takes, so for a whole minute as fast as the brain
answers they cannot be made one by one: the same columns are sent with other times, which takes a tenth of that.
"""

from dataclasses import dataclass, replace

import msgspec
import numpy as np
from nemutator_common.wire_columns import RECORD_PREFIX, RecordHead

_head = msgspec.json.Decoder(RecordHead)


@dataclass(frozen=True, slots=True)
class MadeRecord:
    head: RecordHead
    arrays: bytes
    """With the snapshot behind them."""

    def at(self, now: float) -> bytes:
        """What the agent would have made at *now* of a node that uses what it did."""
        text = msgspec.json.encode(replace(self.head, taken_at=now))
        begin, count = 4 * self.head.points, self.head.points
        arrays = bytearray(self.arrays)
        times = np.frombuffer(arrays, "<f8", 2 * count, begin)
        times += now - self.head.taken_at
        return b"".join((RECORD_PREFIX.pack(len(text)), text, arrays))


def made_record(record: bytes) -> MadeRecord:
    at = RECORD_PREFIX.size + RECORD_PREFIX.unpack_from(record)[0]
    return MadeRecord(_head.decode(record[RECORD_PREFIX.size : at]), record[at:])
