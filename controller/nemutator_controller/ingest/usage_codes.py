"""Figures as small integers that rise with them: a matrix of them is a quarter or an eighth of one of doubles.

Code 0 is "not known" and code 1 is zero, so that a matrix of zeros knows nothing, and the largest of several
codes is the code of the largest.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
FineCodes = npt.NDArray[np.uint16]
CoarseCodes = npt.NDArray[np.uint8]

UNKNOWN, ZERO, FIRST = 0, 1, 2

LARGEST = 2.0**53
"""What is more than this is not believed, as in reports."""

_SHIFT = 14
_LEAST = np.float32(2.0**-62)
_OFFSET = np.uint32((int(_LEAST.view(np.uint32)) >> _SHIFT) - ZERO)


def encode_fine(values: Numbers) -> FineCodes:
    """For 16 bits: the exponent and nine bits of a float, so each is exact to 0.1 %. Without NaN."""
    bits = np.maximum(values, _LEAST).astype(np.float32).view(np.uint32)
    # Rounded to the nearest: half of the last bit that stays is added first.
    codes: FineCodes = (((bits + (1 << (_SHIFT - 1))) >> _SHIFT) - _OFFSET).astype(np.uint16)
    return codes


def encode_fine_known(values: Numbers) -> FineCodes:
    """The same where NaN is what is not known."""
    known = ~np.isnan(values)
    return np.where(known, encode_fine(np.where(known, values, 0.0)), UNKNOWN).astype(np.uint16)


def _fine_values() -> Numbers:
    bits = (np.arange(1 << 16, dtype=np.uint32) + _OFFSET) << _SHIFT
    values: Numbers = bits.view(np.float32).astype(np.float64)
    values[[UNKNOWN, ZERO]] = np.nan, 0.0
    return values


_FINE = _fine_values()


_FINE_SINGLES = _FINE.astype(np.float32)


def decode_fine(codes: FineCodes) -> Numbers:
    """What *codes* stand for; NaN where that is not known."""
    found: Numbers = _FINE[codes]
    return found


@dataclass(frozen=True)
class CoarseScale:
    """For 8 bits: 7 % from code to code, so each is exact to 3.5 %, from *lowest* to 27 million times that."""

    lowest: float

    ratio = 1.07
    last = 255

    def encode(self, values: Numbers) -> CoarseCodes:
        """The nearest codes; NaN is not known, and what is too large gets the last code."""
        with np.errstate(divide="ignore"):
            steps = np.rint(np.log(values / self.lowest) / np.log(self.ratio))
        # -inf, of zero, becomes the code of zero; so does what is nearer to it than to the lowest.
        codes = np.clip(steps + FIRST, ZERO, self.last)
        return np.where(np.isnan(values), UNKNOWN, codes).astype(np.uint8)

    def encode_up(self, values: Numbers) -> CoarseCodes:
        """Rounded up: what is kept as a maximum is not less than it was. NaN is not known."""
        codes = self.encode(values)
        below = self.decode(codes) < values * (1 - 1e-9)
        return np.minimum(codes.astype(np.int64) + below, self.last).astype(np.uint8)

    def decode(self, codes: CoarseCodes) -> Numbers:
        """What *codes* stand for; NaN where that is not known."""
        found: Numbers = self._values[codes]
        return found

    @cached_property
    def singles(self) -> Singles:
        """What each code stands for, in half the memory."""
        return self._values.astype(np.float32)

    @cached_property
    def _values(self) -> Numbers:
        steps = np.arange(self.last + 1 - FIRST, dtype=np.float64)
        return np.concatenate([[np.nan, 0.0], self.lowest * self.ratio**steps])


class ShareScale:
    """For 8 bits: shares from 0 to 1, each exact to 0.2 %."""

    last = 254

    def encode(self, values: Numbers) -> CoarseCodes:
        """The nearest codes; NaN is not known."""
        codes = np.clip(np.rint(values * (self.last - ZERO)) + ZERO, ZERO, self.last)
        return np.where(np.isnan(values), UNKNOWN, codes).astype(np.uint8)

    def decode(self, codes: CoarseCodes) -> Numbers:
        """What *codes* stand for; NaN where that is not known."""
        shares = (codes.astype(np.float64) - ZERO) / (self.last - ZERO)
        return np.where(codes == UNKNOWN, np.nan, shares)

    @cached_property
    def singles(self) -> Singles:
        """What each code stands for, in half the memory. One code is not used."""
        return self.decode(np.arange(self.last + 2, dtype=np.uint8)).astype(np.float32)


class FineScale:
    """For 16 bits, as `encode_fine` has them."""

    def encode(self, values: Numbers) -> FineCodes:
        return encode_fine_known(values)

    def decode(self, codes: FineCodes) -> Numbers:
        return decode_fine(codes)

    @property
    def singles(self) -> Singles:
        """What each code stands for, in half the memory."""
        return _FINE_SINGLES
