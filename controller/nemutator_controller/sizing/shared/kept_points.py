"""Points of use, and flows, as bytes, and back: what a brain writes for the one that learns, and for all that show what is now."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from nemutator_common.wire_activity import Flow

from nemutator_controller.ingest.usage_points import Series, UsagePoints

_NUMBER, _DOUBLE = np.dtype("<i4"), np.dtype("<f8")

LARGEST = 64 << 20
"""Bytes of one batch of reports, uncompressed: far above what ingest lets in."""


class UnreadablePointsError(ValueError):
    """The bytes are not points as this version knows them."""


@dataclass(frozen=True, slots=True)
class WaitingPoints:
    """Points of one node that were acknowledged, and are in no saved row yet."""

    number: int
    node: str
    packed: bytes


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    series: list[Series]
    of: bytes
    from_at: bytes
    to_at: bytes
    columns: dict[str, bytes]
    flows: tuple[Flow, ...] = ()
    """Rows of a former version have none."""


_decoder = msgspec.msgpack.Decoder(_Kept)


_NO_POINTS = UsagePoints(
    series=[],
    of=np.zeros(0, dtype=np.int32),
    from_at=np.zeros(0),
    to_at=np.zeros(0),
    columns={},
)


def pack(points: UsagePoints | None, flows: Sequence[Flow] = ()) -> bytes:
    points = _NO_POINTS if points is None else points
    kept = _Kept(
        list(points.series),
        points.of.astype(_NUMBER).tobytes(),
        points.from_at.astype(_DOUBLE).tobytes(),
        points.to_at.astype(_DOUBLE).tobytes(),
        {name: column.astype(_DOUBLE).tobytes() for name, column in points.columns.items()},
        tuple(flows),
    )
    return zlib.compress(msgspec.msgpack.encode(kept), level=1)


def unpack(packed: bytes) -> tuple[UsagePoints, tuple[Flow, ...]]:
    """What `pack` made *packed* of; raises `UnreadablePointsError`."""
    try:
        kept = _decoder.decode(zlib.decompressobj().decompress(packed, LARGEST))
        of = np.frombuffer(kept.of, _NUMBER).astype(np.int32)
        from_at, to_at = (np.frombuffer(one, _DOUBLE) for one in (kept.from_at, kept.to_at))
        columns = {name: np.frombuffer(one, _DOUBLE) for name, one in kept.columns.items()}
    except (zlib.error, msgspec.MsgspecError, ValueError) as error:
        raise UnreadablePointsError(str(error)) from error
    if any(len(one) != len(of) for one in (from_at, to_at, *columns.values())):
        raise UnreadablePointsError("its columns are not of one length")
    if len(of) and not 0 <= int(of.min()) <= int(of.max()) < len(kept.series):
        raise UnreadablePointsError("a point is of no series")
    points = UsagePoints(series=kept.series, of=of, from_at=from_at, to_at=to_at, columns=columns)
    return points, kept.flows
