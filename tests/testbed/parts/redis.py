"""Redis on loopback, also over TLS, in memory only, behind a password that other users of the machine lack."""

import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nemutator_common.secret import Secret

from tests.fakes.kube.certificates import AuthorityFiles
from tests.testbed.building import made, unpacked
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 60.0
CALL_S = 60.0

CONFIGURATION = """\
bind {address}
port {port}
tls-port {tls_port}
tls-cert-file "{folder}/server.crt"
tls-key-file "{folder}/server.key"
tls-ca-cert-file "{folder}/ca.crt"
tls-auth-clients no
dir "{folder}"
requirepass {password}
save ""
appendonly no
daemonize no
"""

Answer = str | int | None | list["Answer"]


class RedisRefusedError(Exception):
    """Redis answered a command with an error; its words."""


@dataclass(frozen=True, slots=True)
class Redis:
    """How to reach Redis; *daemon* to see it end."""

    port: int
    tls_port: int
    authority: Path
    """The file of who has signed its certificate."""
    password: Secret
    daemon: Daemon

    def call(self, *words: str) -> Answer:
        """Redis's answer to one command, over a connection of its own."""
        commands = [("AUTH", self.password.reveal()), words]
        with (
            socket.create_connection((LOOPBACK, self.port), timeout=CALL_S) as connection,
            connection.makefile("rb") as answers,
        ):
            connection.sendall(b"".join(map(encoded, commands)))
            return [decoded(answers) for _ in commands][-1]


def begin(run: Run) -> Redis:
    """Start it in *run* and return when it answers."""
    root = made.debian("redis")
    port, tls_port = free_port(), free_port()
    folder = run.folder("redis")
    authority = AuthorityFiles(folder, "redis-ca")
    authority.server_context()  # writes the files of a certificate for loopback
    password = secrets.token_hex(16)
    configuration = CONFIGURATION.format(
        address=LOOPBACK, port=port, tls_port=tls_port, password=password, folder=folder
    )
    daemon = run.started(
        "redis",
        [
            unpacked.program(root, "redis-server"),
            run.file("redis/redis.conf", configuration),
        ],
        environment=unpacked.environment(root),
    )
    redis = Redis(port, tls_port, authority.file, Secret(password), daemon)
    daemon.wait_until(lambda: _answers(redis), within_s=READY_S)
    return redis


def _answers(redis: Redis) -> bool:
    try:
        return redis.call("PING") == "PONG"
    except OSError:
        return False


def encoded(words: tuple[str, ...]) -> bytes:
    """A command as Redis reads it: RESP 2, an array of strings with their lengths."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)]
    return b"".join(parts)


def decoded(answers: BinaryIO) -> Answer:
    """The next answer in RESP 2; raises RedisRefusedError, and OSError when it is cut off."""
    line = answers.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("Redis has closed the connection within an answer")
    kind, rest = line[:1], line[1:-2].decode()
    match kind:
        case b"+":
            return rest
        case b":":
            return int(rest)
        case b"-":
            raise RedisRefusedError(rest)
        case b"$":
            return None if rest == "-1" else _text(answers, int(rest))
        case b"*":
            return None if rest == "-1" else list(_several(answers, int(rest)))
    raise ConnectionError(f"not an answer of Redis: {line!r}")


def _several(answers: BinaryIO, count: int) -> Iterator[Answer]:
    for _ in range(count):
        yield decoded(answers)


def _text(answers: BinaryIO, length: int) -> str:
    text = answers.read(length + 2)
    if len(text) != length + 2:
        raise ConnectionError("Redis has closed the connection within a text")
    return text[:-2].decode()
