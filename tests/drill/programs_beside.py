"""What runs beside each other in control groups: victims that say how long their work takes, and aggressors that work in bursts
until they are told to be quiet. Each begins when its standard input is closed.

    reads DISK COUNT PAUSE LOG               so many small reads past the page cache at a time
    floods DISK SEED QUIET                   large reads past the page cache, several at once, in bursts
    counts PAUSE LOG                         a little work of a processor
    visits FILE BYTES COUNT PAUSE LOG        so many pages of a mapped file at a time, here and there
    fills BYTES SEED QUIET                   memory of its own, in bursts
    streams BYTES SEED QUIET                 copies of memory that no cache holds, in bursts
    replies PORT BYTES ITEMS                 so many bytes to whoever asks, after a walk over so many objects in memory
    asks ADDRESS PORT BYTES COUNT PAUSE LOG  that so many times, and again
    drains PORT                              whatever comes
    pours ADDRESS PORT FLOWS PACE SEED QUIET bytes by several connections, in bursts; PACE: seconds between two pieces
"""

import contextlib
import mmap
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

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


def bursts(seed: str, quiet: str) -> Iterator[float]:
    """Until when each goes on; when each was is noted beside *quiet*."""
    dice = random.Random(int(seed))
    while True:
        begun = time.time()
        yield time.monotonic() + dice.choice(BURSTS)
        with open(f"{quiet}.bursts", "a") as out:
            out.write(f"{begun:.1f} {time.time():.1f}\n")
        time.sleep(dice.choice(BURSTS))


def floods(place: str, seed: str, quiet: str) -> None:

    def flood(until: float) -> None:
        read = reader(place, LARGE)
        while time.monotonic() < until and not os.path.exists(quiet):
            read()

    for until in bursts(seed, quiet):
        several = [threading.Thread(target=flood, args=(until,)) for _ in range(AT_ONCE)]
        for one in several:
            one.start()
        for one in several:
            one.join()


def counts(pause: str, log: str) -> None:
    while True:
        begun = time.monotonic()
        for _ in range(50_000):
            pass
        said(log, begun)
        time.sleep(float(pause))


def visits(place: str, size: str, count: str, pause: str, log: str) -> None:
    with open(place, "rb") as source:
        mapped = mmap.mmap(source.fileno(), int(size), prot=mmap.PROT_READ)
    # What is read beside a page that is wanted would hide that it was missing.
    mapped.madvise(mmap.MADV_RANDOM)
    while True:
        begun = time.monotonic()
        for _ in range(int(count)):
            mapped[random.randrange(int(size))]
        said(log, begun)
        time.sleep(float(pause))


def fills(size: str, seed: str, quiet: str) -> None:
    for until in bursts(seed, quiet):
        filled = mmap.mmap(-1, int(size))
        while time.monotonic() < until and not os.path.exists(quiet):
            # All of it is in use, as by whoever computes in it.
            for at in range(0, int(size), PAGE):
                filled[at] = 1
            time.sleep(0.05)
        filled.close()


def streams(size: str, seed: str, quiet: str) -> None:
    source, target = bytes(int(size)), memoryview(bytearray(int(size)))
    for until in bursts(seed, quiet):
        while time.monotonic() < until and not os.path.exists(quiet):
            target[:] = source


def listening(port: str) -> socket.socket:
    return socket.create_server(("", int(port)))


def reached(address: str, port: str) -> socket.socket:
    """Whoever listens there may begin later."""
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection((address, int(port)))
        time.sleep(0.1)


def whole(link: socket.socket, size: int) -> None:
    left = size
    while left:
        got = len(link.recv(min(left, 1 << 18)))
        if not got:
            raise ConnectionResetError
        left -= got


def replies(port: str, size: str, items: str) -> None:
    # Objects that lie where the dice say: each step of the walk waits for memory.
    walked = [float(number) for number in range(int(items))]
    random.shuffle(walked)
    reply = bytes(int(size))
    server = listening(port)
    while True:
        link, _ = server.accept()
        while link.recv(1):
            sum(walked)
            link.sendall(reply)


def asks(address: str, port: str, size: str, count: str, pause: str, log: str) -> None:
    link = reached(address, port)
    while True:
        begun = time.monotonic()
        for _ in range(int(count)):
            link.sendall(b"?")
            whole(link, int(size))
        said(log, begun)
        time.sleep(float(pause))


def drains(port: str) -> None:
    def drain(link: socket.socket) -> None:
        while link.recv(1 << 18):
            pass

    server = listening(port)
    while True:
        link, _ = server.accept()
        threading.Thread(target=drain, args=(link,), daemon=True).start()


def pours(address: str, port: str, flows: str, pace: str, seed: str, quiet: str) -> None:
    piece = bytes(1 << 16)

    def pour(link: socket.socket, until: float) -> None:
        while time.monotonic() < until and not os.path.exists(quiet):
            link.sendall(piece)
            if float(pace):
                time.sleep(float(pace))

    links = [reached(address, port) for _ in range(int(flows))]
    for until in bursts(seed, quiet):
        several = [threading.Thread(target=pour, args=(link, until)) for link in links]
        for one in several:
            one.start()
        for one in several:
            one.join()


PROGRAMS = (reads, floods, counts, visits, fills, streams, replies, asks, drains, pours)

if __name__ == "__main__":
    sys.stdin.read()
    programs: dict[str, Callable[..., None]] = {one.__name__: one for one in PROGRAMS}
    programs[sys.argv[1]](*sys.argv[2:])
