"""Under which keys files of exports lie, so that they are found and removed without a list of them."""

from datetime import UTC, datetime

import msgspec

HOUR_S = 3600


class ExportPosition(msgspec.Struct, frozen=True):
    """What is kept beside the files of one source: how far they go."""

    hour: int
    """The last hour that is written, in hours since the epoch."""


_positions = msgspec.json.Decoder(ExportPosition)


def file_key(cluster: str, source: str, ending: str, hour: int) -> str:
    at = datetime.fromtimestamp(hour * HOUR_S, UTC)
    return f"exports/{cluster or 'cluster'}/{source}/{at:%Y-%m-%d}/{at:%H}.{ending}"


def position_key(cluster: str, source: str) -> str:
    return f"exports/{cluster or 'cluster'}/{source}/position.json"


def position(content: bytes | None) -> ExportPosition | None:
    """What `position_key` leads to; None: nothing was written yet, or it is not readable."""
    try:
        found = None if content is None else _positions.decode(content)
    except msgspec.MsgspecError:
        return None
    return found if found is not None and found.hour >= 0 else None
