"""Follows the agent's stream of changes, also over restarts of the agent.

Clock and stream are arguments.
"""

from collections.abc import Callable, Collection, Iterator

from nemutator_common.backoff import Backoff
from nemutator_init.answers import NeverError, NotYetError

from nemutator_ctl.secret.changes import NotALineError, Notice, notice, path_after

BACKOFF = Backoff(first_s=0.1, longest_s=2.0)


def follow(
    stream: Callable[[str], Iterator[bytes]],
    *,
    # what is followed
    wanted: Collection[str],
    show: Callable[[Notice], None],
    # how
    wait_s: float,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    roll: Callable[[], float],
    report: Callable[[str], None],
) -> None:
    """Show each change of a *wanted* name, of all names if there are none; a NeverError ends it: the
    agent refuses, or has not answered for *wait_s*."""
    sequence: int | None = None
    failures, deadline = 0, now() + wait_s
    while True:
        try:
            for line in stream(path_after(sequence)):
                read = notice(line)
                if failures or sequence is None:
                    report("watching")
                failures, sequence = 0, read.sequence
                if read.missed:
                    report("there may have been changes meanwhile that the agent does not know")
                elif read.name is not None and (not wanted or read.name in wanted):
                    show(read)
            reason = "the agent has ended the stream"
        except NotALineError as error:
            raise NeverError(f"the agent ends the stream: {error}") from None
        except NotYetError as error:
            reason = str(error)
        if not failures:
            deadline = now() + wait_s
            report(f"waiting: {reason}")
        elif now() >= deadline:
            raise NeverError(f"waited {wait_s:g} s; {reason}")
        failures += 1
        sleep(min(BACKOFF.delay_s(failures, roll=roll()), max(deadline - now(), 0)))
