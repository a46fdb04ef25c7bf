"""What the busiest pod of a container used in five minutes each, hour by hour, for so many days as a request is made from."""

import zlib
from dataclasses import dataclass

import numpy as np

from nemutator_controller.ingest.usage_codes import (
    UNKNOWN,
    FineCodes,
    decode_fine,
    encode_fine_known,
)
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, HOUR_S, Numbers

STEP_S = 300
PER_HOUR = HOUR_S // STEP_S

LONGEST_HOURS = 22 * DAY_HOURS
"""The strategy reads two weeks. It is run from the first hour on, so that hour must seldom be another."""
LEFT_OUT_HOURS = 7 * DAY_HOURS
"""Of the oldest, at once, when there are more."""

_KIND = np.dtype("<u2")
_LARGEST = LONGEST_HOURS * PER_HOUR * _KIND.itemsize
_MOST_CORES = 10_000.0
"""What is more is not believed."""


class UnreadableHoursError(ValueError):
    """The bytes are no points of ours."""


@dataclass(frozen=True, slots=True, eq=False)
class HourlyPoints:
    begin: int
    """The first hour, counted from the epoch."""
    codes: FineCodes
    """Hours by steps of an hour, as the history codes figures: what is saved is what is computed with."""

    @property
    def end(self) -> int:
        """The hour after the last one."""
        return self.begin + len(self.codes)

    def cores(self) -> Numbers:
        """Hours by steps; NaN: not known."""
        return decode_fine(self.codes)

    def with_hours(self, begin: int, cores: Numbers) -> "HourlyPoints":
        """Followed by *cores*, hours by steps from the hour *begin* on; between them nothing is known."""
        missing = begin - self.end
        if missing < 0:
            raise ValueError(f"hour {begin} is known: hours up to {self.end} are")
        if missing + len(cores) >= LONGEST_HOURS:
            return points_of(begin, cores)
        gap = np.full((missing, PER_HOUR), np.nan)
        codes = np.concatenate([self.codes, _codes(gap), _codes(cores)])
        left_out = 0
        while len(codes) - left_out > LONGEST_HOURS:
            left_out += LEFT_OUT_HOURS
        return HourlyPoints(self.begin + left_out, codes[left_out:])

    def filled(self, begin: int, cores: Numbers) -> "HourlyPoints":
        """With *cores*, hours by steps from the hour *begin* on, where nothing is known; nothing behind the last hour."""
        first = max(min(begin, self.begin), self.end - LONGEST_HOURS)
        codes = np.full((self.end - first, PER_HOUR), UNKNOWN, dtype=self.codes.dtype)
        other = _codes(cores)[max(0, first - begin) : max(0, self.end - begin)]
        at = max(begin, first) - first
        codes[at : at + len(other)] = other
        ours = codes[self.begin - first :]
        np.copyto(ours, self.codes, where=self.codes != UNKNOWN)
        # Hours before the first one say nothing, and are not kept.
        before = codes[: self.begin - first] != UNKNOWN
        known = np.flatnonzero(before.any(axis=1))
        left_out = int(known[0]) if len(known) else len(before)
        return HourlyPoints(first + left_out, codes[left_out:])

    def until(self, end: int) -> "HourlyPoints":
        """Those before the hour *end*."""
        return HourlyPoints(self.begin, self.codes[: max(0, end - self.begin)])

    def packed(self) -> bytes:
        return zlib.compress(self.codes.astype(_KIND).tobytes(), 1)


@dataclass(frozen=True, slots=True)
class KeptHours:
    points: HourlyPoints
    wanted_at: float
    """When a policy asked for it last."""


def points_of(begin: int, cores: Numbers) -> HourlyPoints:
    return HourlyPoints(begin, _codes(cores[-LONGEST_HOURS:]))


def unpacked_points(begin: int, packed: bytes) -> HourlyPoints:
    """Raises `UnreadableHoursError`."""
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, _LARGEST + 1)
    except zlib.error as error:
        raise UnreadableHoursError(str(error)) from error
    if not unpacking.eof or len(content) > _LARGEST or len(content) % (PER_HOUR * _KIND.itemsize):
        raise UnreadableHoursError(f"{len(content)} bytes are no whole hours")
    codes = np.frombuffer(content, _KIND).astype(np.uint16).reshape(-1, PER_HOUR)
    return HourlyPoints(begin, codes)


def _codes(cores: Numbers) -> FineCodes:
    with np.errstate(invalid="ignore"):
        believed = (cores >= 0) & (cores <= _MOST_CORES)
    return encode_fine_known(np.where(believed, cores, np.nan))
