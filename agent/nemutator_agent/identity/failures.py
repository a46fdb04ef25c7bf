"""The one exception by which identity refuses a caller."""

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
    "start",
]
"""The step that failed, in their order:

credentials: the kernel does not name the peer; pidfd: it gives no pidfd of the process; cgroup: the
process's control groups cannot be read or understood; position: they are not a pod's; hierarchies:
they name different pods; alive: the process has ended, or another one has its number now;
other pod: the process is in a pod, but not in the one that owns the socket; rule: no rule admits
the process; start: it is as it has to be, but started so short a time before it was accepted that
another one may have made the connection.
"""


class AttestationError(Exception):
    """The caller is not who it has to be, or that is not certain; *why* is for people."""

    def __init__(self, step: Step, why: str) -> None:
        super().__init__(f"{step}: {why}")
        self.step: Step = step
        self.why = why
