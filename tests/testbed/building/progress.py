"""How far a long build is, in words: arithmetic on counts and seconds."""

# Before this share is done the pace says little: the packages that come first are the small ones.
TELLING_SHARE = 0.1
MEASURED_ON_CORES = 2


def estimate_for(cores: int, estimate_s: float) -> float:
    """The estimate of a recipe, which holds for two cores, on a machine with *cores*."""
    return estimate_s * MEASURED_ON_CORES / max(cores, 1)


def seconds_left(*, done: int, total: int, elapsed_s: float, estimate_s: float) -> float:
    """What is left by the measured pace, and by the estimate where there is no pace yet."""
    share = min(done / total, 1.0) if total else 0.0
    if share < TELLING_SHARE:
        return max(estimate_s - elapsed_s, 0.0)
    return elapsed_s / share * (1 - share)


def line(*, done: int, total: int, elapsed_s: float, estimate_s: float) -> str:
    """As a person reads it: 43 % (1200 of 2790 packages) after 2 min, about 3 min left."""
    done = min(done, total)
    left = seconds_left(done=done, total=total, elapsed_s=elapsed_s, estimate_s=estimate_s)
    share = f"{100 * done // total} % ({done} of {total} packages) " if total else ""
    return f"{share}after {spoken(elapsed_s)}, about {spoken(left)} left"


def spoken(seconds: float) -> str:
    """Seconds to a minute and a half, minutes beyond."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
