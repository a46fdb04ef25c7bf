"""The one way in which identity says no."""

from typing import Literal

Step = Literal[
    "credentials",
    "pidfd",
    "cgroup",
    "position",
    "hierarchies",
    "alive",
    "other pod",
    "rule",
]
"""Where the chain broke, in its order:

credentials: the kernel does not name the peer; pidfd: it gives no hold on its process; cgroup: the
process's control groups cannot be read or understood; position: they are not a pod's; hierarchies:
they disagree; alive: the process ended, or is another one by now; other pod: it is a pod, but not
the one that this socket was given to; rule: no rule admits it.
"""


class AttestationError(Exception):
    """The caller is not who it would have to be, or cannot be told; *why* is for people."""

    def __init__(self, step: Step, why: str) -> None:
        super().__init__(f"{step}: {why}")
        self.step: Step = step
        self.why = why
