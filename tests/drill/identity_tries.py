"""Run in a pid namespace of its own, as root: processes that would be taken for another pod's, one after
the other, as fast as they can be made. Prints one line of JSON.

Each try is a connection to the victim's socket, accepted and judged as the credentials process does it.
"""

import contextlib
import ctypes
import json
import os
import random
import socket
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from nemutator_agent.credentials.connection_peer import PeerAcceptance
from nemutator_agent.identity.attestors import PodAttestor
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Hold, by_connection, by_number, names_peers
from nemutator_agent.identity.pods import find_pods_root

from tests.fakes.process import fake_process

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
TOP = Path("/sys/fs/cgroup")
NEW_USER = 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


class Tree:
    """Kubelet's groups, and those that a user can make where the tree was handed over to them."""

    def __init__(self) -> None:
        hierarchy = "memory" if (TOP / "memory").is_dir() else ""
        self.top = TOP / hierarchy / f"nemudrill-{uuid.uuid4().hex[:8]}"
        self.setting = f"{hierarchy}:/{self.top.name}/kubepods"
        self.victim, self.attacker = str(uuid.uuid4()), str(uuid.uuid4())
        self.own = os.fsencode(Path("/proc/self/cgroup").read_text())
        self._made: list[Path] = []

    def group(self, *names: str) -> Path:
        path = self.top.joinpath(*names)
        for level in (
            *reversed(path.relative_to(self.top.parent).parents[:-1]),
            path.relative_to(self.top.parent),
        ):
            made = self.top.parent / level
            if not made.exists():
                made.mkdir()
                self._made.append(made)
        return path

    def remove(self) -> None:
        for path in reversed(self._made):
            with contextlib.suppress(OSError):
                path.rmdir()


@dataclass
class Drill:
    tree: Tree
    tries: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    refused_at: Counter[str] = field(default_factory=Counter)
    turned_away: Counter[str] = field(default_factory=Counter)
    """Rightful callers that were not let in."""

    def __post_init__(self) -> None:
        tree = self.tree
        self.attestor = PodAttestor(find_pods_root(os.fsdecode(tree.own), tree.setting))
        a, v = f"pod{tree.attacker}", f"pod{tree.victim}"
        c, d = "c" * 64, "d" * 64
        self.victims = [tree.group("kubepods", v, c), tree.group("kubepods", v, d)]
        self.attackers = {
            "other pod": tree.group("kubepods", a, c),
            "nested": tree.group("kubepods", a, c, "kubepods", v, c),
            "nested at once": tree.group("kubepods", a, v, c),
            "delegated": tree.group("user.slice", "kubepods", v, c),
            "above": tree.group("kubepods"),
            "no pod": tree.group("system.slice"),
        }

    def run(self, number: int, dice: random.Random) -> None:
        holds = {"pidfd_open": by_number}
        if names_peers():
            holds["SO_PEERPIDFD"] = by_connection
        for made in range(number):
            name = list(holds)[made % len(holds)]
            with self.door(holds[name]) as door:
                kind, work, rightful = self.choice(dice)
                granted, step = work(door)
            self.count(f"{kind}, {name}", granted, step, rightful=rightful)

    def count(self, kind: str, granted: bool, step: str, *, rightful: bool) -> None:
        self.tries[kind] += 1
        if granted and not rightful:
            self.wrong[kind] += 1
        if not granted:
            (self.turned_away if rightful else self.refused_at)[step if not rightful else kind] += 1

    def choice(self, dice: random.Random) -> tuple[str, Callable[["Door"], tuple[bool, str]], bool]:
        place, group = dice.choice(list(self.attackers.items()))
        victims = dice.choice(self.victims)
        kinds: list[tuple[str, Callable[[Door], tuple[bool, str]], bool]] = [
            ("a process of the container", lambda door: door.connects(victims), True),
            ("an exec'd process", lambda door: door.connects(victims, executes=True), True),
            ("hostUsers: false", lambda door: door.connects(victims, own_users=True), True),
        ]
        wrong: list[tuple[str, Callable[[Door], tuple[bool, str]], bool]] = [
            (place, lambda door: door.connects(group), False),
            (f"{place}, own users", lambda door: door.connects(group, own_users=True), False),
            (
                f"{place}, moves",
                lambda door: door.connects(group, then=self.attackers["nested"]),
                False,
            ),
            (f"{place}, executes", lambda door: door.connects(group, executes=True), False),
            (f"{place}, forks and exits", lambda door: door.forks_and_exits(group), False),
            (f"{place}, passes it on", lambda door: door.passes_on(group, victims), False),
            (f"{place}, recycled", lambda door: door.recycled(group, victims), False),
            (
                f"{place}, recycled before accept",
                lambda door: door.recycled(group, victims, late=True),
                False,
            ),
        ]
        return dice.choice(kinds if dice.random() < 0.1 else wrong)

    @contextlib.contextmanager
    def door(self, hold: Hold) -> Iterator["Door"]:
        with socket.socket(socket.AF_UNIX) as listening:
            where = f"\0drill-{uuid.uuid4().hex}"
            listening.bind(where)
            listening.listen()
            listening.settimeout(60)
            acceptance = PeerAcceptance(fake_process(), hold=hold)
            accept = acceptance.of(listening)
            acceptance.poll()
            yield Door(self, listening, where, accept)
            acceptance.leave(listening)


@dataclass
class Door:
    drill: Drill
    listening: socket.socket
    where: str
    accept: Callable[[socket.socket], object]

    def judged(self, connection: socket.socket, meanwhile: Callable[[], None]) -> tuple[bool, str]:
        peer = self.accept(connection)
        meanwhile()
        try:
            self.drill.attestor.admit(peer.facts(), self.drill.tree.victim)  # type: ignore[attr-defined]
        except AttestationError as refused:
            return False, refused.step
        finally:
            peer.close()  # type: ignore[attr-defined]
        return True, ""

    def connects(
        self,
        group: Path,
        *,
        then: Path | None = None,
        executes: bool = False,
        own_users: bool = False,
    ) -> tuple[bool, str]:
        with Child(self, group, then=then, executes=executes, own_users=own_users) as child:
            connection, _ = self.listening.accept()
            with connection:
                return self.judged(connection, child.moved if then else lambda: None)

    def forks_and_exits(self, group: Path) -> tuple[bool, str]:
        with Child(self, group, leaves_heir=True) as child:
            connection, _ = self.listening.accept()
            child.ended()
            with connection:
                return self.judged(connection, lambda: None)

    def passes_on(self, group: Path, victims: Path) -> tuple[bool, str]:
        """Who connected has ended, and a process of the victim's holds the connection."""
        with Child(self, group, heir_joins=victims, leaves_heir=True) as child:
            connection, _ = self.listening.accept()
            child.ended()
            with connection:
                return self.judged(connection, lambda: None)

    def recycled(self, group: Path, victims: Path, *, late: bool = False) -> tuple[bool, str]:
        child = Child(self, group)
        impostor: list[Child] = []

        def ends_and_is_replaced() -> None:
            number = child.pid
            child.end()
            LAST_PID.write_text(str(number - 1))
            impostor.append(Child(self, victims, silent=True))
            assert impostor[0].pid == number

        try:
            child.connected()
            if late:
                ends_and_is_replaced()
            connection, _ = self.listening.accept()
            with connection:
                return self.judged(connection, (lambda: None) if late else ends_and_is_replaced)
        finally:
            for each in (child, *impostor):
                each.end()


class Child:
    """A process that joins a group, connects, says so, and waits until it is to end."""

    def __init__(
        self,
        door: Door,
        group: Path,
        *,
        then: Path | None = None,
        executes: bool = False,
        own_users: bool = False,
        leaves_heir: bool = False,
        heir_joins: Path | None = None,
        silent: bool = False,
    ) -> None:
        self._said, said = os.pipe()
        wait, self._go = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(said)
            os.close(wait)
            if silent:
                self.connected()
            return
        os.close(self._said)
        os.close(self._go)
        with contextlib.suppress(BaseException):
            _join(group)
            if own_users:
                _libc.unshare(NEW_USER)
            connection = socket.socket(socket.AF_UNIX)
            if not silent:
                connection.connect(door.where)
            os.write(said, b"c")
            if leaves_heir and os.fork() == 0:
                if heir_joins is not None:
                    _join(heir_joins)
                os.write(said, b"h")
                os.read(wait, 1)
                os._exit(0)
            if leaves_heir:
                os._exit(0)
            if then is not None:
                _join(then)
                os.write(said, b"m")
            if executes:
                for fd in (wait, connection.fileno()):
                    os.set_inheritable(fd, True)
                os.execv("/bin/sh", ["sh", "-c", f"read line <&{wait}"])
            os.read(wait, 1)
        os._exit(0)

    def __enter__(self) -> Self:
        self.connected()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def connected(self) -> None:
        assert os.read(self._said, 1)

    def moved(self) -> None:
        assert os.read(self._said, 1) == b"m"

    def ended(self) -> None:
        """Who connected has gone, and its heir is there."""
        assert os.read(self._said, 1) == b"h"
        os.waitpid(self.pid, 0)
        self.pid = 0

    def end(self) -> None:
        if self._go >= 0:
            os.close(self._go)
            self._go = -1
            # Its heir ends with the pipe, and this reads until nobody holds its other end.
            while os.read(self._said, 16):
                pass
            os.close(self._said)
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def main() -> int:
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    began = time.monotonic()
    tree = Tree()
    try:
        drill = Drill(tree)
        drill.run(number, random.Random(seed))
    finally:
        tree.remove()
    summary = {
        "drill": "identity",
        "tries": drill.tries.total(),
        "granted_wrongly": drill.wrong.total(),
        "kinds": len(drill.tries),
        "wrong": dict(drill.wrong),
        "refused_at": dict(drill.refused_at.most_common()),
        "rightful": sum(
            n
            for kind, n in drill.tries.items()
            if kind.startswith(("a process", "an exec", "hostUsers"))
        ),
        "rightful_turned_away": dict(drill.turned_away),
        "seed": seed,
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(summary))
    return int(bool(drill.wrong))


if __name__ == "__main__":
    sys.exit(main())
