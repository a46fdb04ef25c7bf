"""The vocabulary: every metric, log key and role, declared once with its meaning.

A name that is not here does not exist: meters refuse undeclared metrics, a house test refuses log
keys written as plain strings, and the tables in docs/reference.md are generated from this module.
"""

from dataclasses import dataclass
from typing import Literal, Self, TypeVar

PREFIX = "nemutator"
"""The name itself: of the distribution, of environment variables, of metrics."""

# --- roles: the processes that we start --------------------------------------------------------
UP = "up"
BRAIN = "brain"
OBSERVE = "observe"
ROLES = (UP, BRAIN, OBSERVE)
"""Each has a table of its own in the settings file and a part of its own in the environment."""


# --- log keys -----------------------------------------------------------------------------------
class Key(str):
    """A key of a structured log line. Its meaning travels with it."""

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        key = super().__new__(cls, name)
        key.meaning = meaning
        return key


REQUEST = Key("request", "id of the HTTP request that this line belongs to")
ROLE = Key("role", "which process of nemutator wrote the line")
ADDRESS = Key("address", "the address that is listened on or called")
ATTEMPT = Key("attempt", "how many times in a row this has been tried")
BYTES = Key("bytes", "size of the answer's body")
COUNT = Key("count", "how many")
DELAY_S = Key("delay_s", "seconds until the next try")
DURATION_MS = Key("duration_ms", "how long it took, in milliseconds")
EPOCH = Key("epoch", "one life of an agent process: numbers start again in the next")
ERROR = Key("error", "what went wrong, shortened and without secrets")
EXIT = Key("exit", "exit code of a process, or the signal that ended it")
METHOD = Key("method", "HTTP method")
NODE = Key("node", "name of the machine that is spoken of")
PATH = Key("path", "path of the HTTP request, or of a file")
PEER = Key("peer", "who is at the other end of a connection")
PID = Key("pid", "process id")
PROCESS = Key("process", "name of a supervised process")
REASON = Key("reason", "why: one of a few fixed words, the same as in the metric")
SEQ = Key("seq", "number of a report within its epoch")
STATUS = Key("status", "HTTP status of the answer")
TASK = Key("task", "name of a task inside a process")
TASKS = Key("tasks", "names of the tasks that did not end in time")
VERSION = Key("version", "version of nemutator or of a runtime")


# --- metrics ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its meaning. A label is always present, from a small, fixed set of values."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets for latencies: the SLO of a local answer (1 ms) to the longest deadline (10 s)."""

HTTP_REQUESTS = Metric(
    "nemutator_http_requests_total",
    "counter",
    "HTTP requests answered, by listener, method and status",
    ("listener", "method", "status"),
)
HTTP_REQUEST_SECONDS = Metric(
    "nemutator_http_request_seconds",
    "histogram",
    "time from the complete request head to the last byte of the answer",
    ("listener",),
    SECONDS,
)
HTTP_CONNECTIONS = Metric(
    "nemutator_http_connections",
    "gauge",
    "connections open now, those still in their TLS handshake included",
    ("listener",),
)
HTTP_CONNECTIONS_DROPPED = Metric(
    "nemutator_http_connections_dropped_total",
    "counter",
    "connections that were ended by us, by reason",
    ("listener", "reason"),
)
TLS_RELOADS = Metric(
    "nemutator_tls_reloads_total",
    "counter",
    "attempts to take over a changed certificate, by result",
    ("listener", "result"),
)

Declared = TypeVar("Declared", Key, Metric)


def declared(kind: type[Declared]) -> tuple[Declared, ...]:
    """All names of one *kind*, in the order of this file."""
    return tuple(thing for thing in globals().values() if isinstance(thing, kind))
