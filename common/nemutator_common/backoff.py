"""How long to wait before trying again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential backoff, capped, with jitter: clients that failed together retry apart."""

    first_s: float
    longest_s: float
    fixed: float = 0.5
    """The part of each step that is not random. Where thousands of clients lose one server together, less
    of it spreads them further."""

    def delay_s(self, failures: int, *, roll: float) -> float:
        """The wait after this many *failures* in a row (1 is the first); *roll* is in [0, 1).

        A part of each step is fixed and the rest is random, so that nobody retries immediately and
        clients do not retry all together.
        """
        if failures < 1:
            return 0.0
        # The exponent is capped before it is raised: 2.0 ** 1100 is an OverflowError.
        step = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 60))
        return step * (self.fixed + (1.0 - self.fixed) * roll)


def spread_s(asked_s: float, *, roll: float) -> float:
    """The wait of one of many clients that a server has asked to come again after *asked_s*: up to twice
    that, because they were all told the same."""
    return asked_s * (1.0 + roll)
