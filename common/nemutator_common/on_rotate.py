"""What a pod wants done when its secrets have changed: `signal:HUP@web`, `restart`, or `none`."""

import re
import signal
from dataclasses import dataclass

NONE = "none"
RESTART = "restart"

SIGNALS = ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH")
"""Those by which programs let themselves be told something. No other can be asked for: what a program
cannot catch ends or stops it."""

_SIGNAL = re.compile(rf"signal:({'|'.join(SIGNALS)})@([a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?)")

EXPECTED = f"expected signal:HUP@container ({', '.join(SIGNALS)}), {RESTART}, or {NONE}"


@dataclass(frozen=True, slots=True)
class ContainerSignal:
    """A signal for the first process of a container, without the `SIG` of its name."""

    name: str
    container: str

    def __str__(self) -> str:
        return f"signal:{self.name}@{self.container}"

    @property
    def number(self) -> int:
        return signal.Signals[f"SIG{self.name}"].value


@dataclass(frozen=True, slots=True)
class PodRestart:
    """The brain evicts the pod, so that its workload makes a new one."""

    def __str__(self) -> str:
        return RESTART


OnRotate = ContainerSignal | PodRestart


def parse_on_rotate(text: str) -> OnRotate | None:
    """Parse what `str()` of one writes, and `none`; a ValueError says what was expected instead."""
    if text == NONE:
        return None
    if text == RESTART:
        return PodRestart()
    match = _SIGNAL.fullmatch(text)
    if match is None:
        raise ValueError(EXPECTED)
    return ContainerSignal(match[1], match[2])
