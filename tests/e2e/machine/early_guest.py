"""The guest of this folder, which starts while the tests before it wait: its CPUs are emulated."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from tests.testbed.parts.machine.machine import Machine


@dataclass(frozen=True, slots=True)
class EarlyGuest:
    guest: Future[Machine] = field(default_factory=Future)
    up: Future[Machine] = field(default_factory=Future)
    """The same, from when `nemutator up` has shown its link."""
    end: threading.Event = field(default_factory=threading.Event)
    """To be set by who needs it no longer."""

    def live(
        self,
        start: Callable[[], AbstractContextManager[Machine]],
        prepare: Callable[[Machine], None],
    ) -> None:
        """Until its end, in the thread that starts QEMU, which dies with it."""
        try:
            with start() as guest:
                self.guest.set_result(guest)
                prepare(guest)
                self.up.set_result(guest)
                self.end.wait()
        except BaseException as error:  # noqa: BLE001 - it is raised for those who wait
            for future in (self.guest, self.up):
                if not future.done():
                    future.set_exception(error)


@contextlib.contextmanager
def beside(
    start: Callable[[], AbstractContextManager[Machine]], prepare: Callable[[Machine], None]
) -> Iterator[EarlyGuest]:
    """One that *start* starts and *prepare* brings to what `up` says, beside what the block does."""
    early = EarlyGuest()
    thread = threading.Thread(target=early.live, args=(start, prepare), name="early guest")
    thread.start()
    try:
        yield early
    finally:
        early.end.set()
        thread.join()
