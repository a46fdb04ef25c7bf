"""How long to wait before trying again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential backoff, capped, with jitter: clients that failed together retry apart."""

    first_s: float
    longest_s: float

    def delay_s(self, failures: int, *, roll: float) -> float:
        """The wait after this many *failures* in a row (1 is the first); *roll* is in [0, 1).

        Half of each step is fixed and half is random, so that nobody retries immediately and
        clients do not retry all together.
        """
        if failures < 1:
            return 0.0
        # The exponent is capped before it is raised: 2.0 ** 1100 is an OverflowError.
        step = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 60))
        return step * (0.5 + 0.5 * roll)
