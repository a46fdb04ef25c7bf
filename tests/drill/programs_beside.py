"""What runs beside each other in control groups: victims that say how long their work takes, and an aggressor that works in bursts
until it is told to be quiet. It begins when its standard input is closed.

    reads DISK COUNT PAUSE LOG     so many small reads past the page cache at a time
    floods DISK SEED QUIET         large reads past the page cache, several at once, in bursts
    counts PAUSE LOG               a little work of a processor
"""

import mmap
import os
import random
import sys
import threading
import time
from collections.abc import Callable

PAGE = 4096
LARGE = 1 << 20
SPAN = 256 << 20
"""Of the file."""
AT_ONCE = 4
BURSTS = (12, 18, 24)
"""Seconds: some minutes of the drill, so that chance is told from cause."""


def said(log: str, begun: float) -> None:
    with open(log, "a") as out:
        out.write(f"{time.time():.1f} {1000 * (time.monotonic() - begun):.1f}\n")


def reader(place: str, size: int) -> Callable[[], None]:
    source = os.open(place, os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, size)

    def read() -> None:
        os.preadv(source, [buffer], random.randrange(SPAN // size) * size)

    return read


def reads(place: str, count: str, pause: str, log: str) -> None:
    read = reader(place, PAGE)
    while True:
        begun = time.monotonic()
        for _ in range(int(count)):
            read()
        said(log, begun)
        time.sleep(float(pause))


def floods(place: str, seed: str, quiet: str) -> None:
    dice = random.Random(int(seed))

    def flood(until: float) -> None:
        read = reader(place, LARGE)
        while time.monotonic() < until and not os.path.exists(quiet):
            read()

    while True:
        until = time.monotonic() + dice.choice(BURSTS)
        several = [threading.Thread(target=flood, args=(until,)) for _ in range(AT_ONCE)]
        for one in several:
            one.start()
        for one in several:
            one.join()
        time.sleep(dice.choice(BURSTS))


def counts(pause: str, log: str) -> None:
    while True:
        begun = time.monotonic()
        for _ in range(50_000):
            pass
        said(log, begun)
        time.sleep(float(pause))


if __name__ == "__main__":
    sys.stdin.read()
    programs = {one.__name__: one for one in (reads, floods, counts)}
    programs[sys.argv[1]](*sys.argv[2:])
