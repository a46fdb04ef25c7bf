import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from nemutator_init.answers import AgentAnswer, NeverError, NotYetError
from nemutator_init.declared_secrets import (
    BACKOFF,
    LARGEST_TOGETHER,
    ask_for_declared,
    ask_for_files,
    fetch,
)

T = TypeVar("T")

UNSEALED_LATER = json.dumps(
    {"error": "Vault is sealed", "remedy": "unseal it", "step": "vault"}
).encode()


@dataclass
class FakeAgent:
    """Answers `values` after so many failures of each kind."""

    values: dict[str, bytes]
    away: int = 0
    sealed: int = 0
    asked: list[str] = field(default_factory=list)

    def ask(self, path: str) -> AgentAnswer:
        self.asked.append(path)
        if self.away:
            self.away -= 1
            raise NotYetError("no answer from the agent")
        if path == "/v1/declared":
            return AgentAnswer(200, json.dumps({"secrets": list(self.values)}).encode())
        if self.sealed:
            self.sealed -= 1
            return AgentAnswer(503, UNSEALED_LATER)
        return AgentAnswer(
            200, self.values[path.removeprefix("/v1/secret/").removesuffix("?raw=1")]
        )


@dataclass
class Time:
    now: float = 1000.0
    naps: list[float] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def fetch(self, agent: FakeAgent, wait_s: float = 120) -> dict[str, bytes]:
        return self.until(lambda: ask_for_declared(agent), wait_s)

    def until(self, ask: Callable[[], T], wait_s: float = 120) -> T:
        return fetch(
            ask,
            wait_s=wait_s,
            now=lambda: self.now,
            sleep=self.sleep,
            roll=lambda: 0.5,
            report=self.reported.append,
        )


def test_everything_that_is_declared_is_fetched() -> None:
    agent = FakeAgent({"db": b"password", "cert": b"\0"})
    assert Time().fetch(agent) == {"db": b"password", "cert": b"\0"}
    assert agent.asked == ["/v1/declared", "/v1/secret/db?raw=1", "/v1/secret/cert?raw=1"]


def test_it_waits_for_agent_and_vault_and_says_so_once() -> None:
    time = Time()
    assert time.fetch(FakeAgent({"db": b"x"}, away=3, sealed=2)) == {"db": b"x"}
    assert time.naps == [BACKOFF.delay_s(failures, roll=0.5) for failures in range(1, 6)]
    assert time.reported == [
        "waiting: no answer from the agent",
        "waiting: secret 'db': Vault is sealed (step: vault); remedy: unseal it",
    ]


def test_waiting_has_an_end_that_says_what_for() -> None:
    time = Time()
    with pytest.raises(NeverError, match=r"waited 30 s; secret 'db': Vault is sealed"):
        time.fetch(FakeAgent({"db": b"x"}, sealed=10_000), wait_s=30)
    assert time.now == 1030


def test_what_is_refused_is_not_asked_for_again() -> None:
    class Refusing(FakeAgent):
        def ask(self, path: str) -> AgentAnswer:
            return super().ask(path) if path == "/v1/declared" else AgentAnswer(403, b"")

    time = Time()
    with pytest.raises(NeverError, match="403"):
        time.fetch(Refusing({"db": b"x"}))
    assert time.naps == []


def test_more_than_a_volume_holds_is_said_and_not_tried() -> None:
    half = b"x" * (LARGEST_TOGETHER // 2)
    with pytest.raises(NeverError, match=r"secret 'c'.*256 KiB"):
        Time().fetch(FakeAgent({"a": half, "b": half, "c": b"x"}))


def test_nothing_declared_is_nothing_fetched() -> None:
    assert Time().fetch(FakeAgent({})) == {}


def test_the_agent_is_asked_to_write_files_until_it_has() -> None:
    time = Time()
    answers = [AgentAnswer(503, UNSEALED_LATER), AgentAnswer(200, b'{"files": ["db"]}')]

    class Writing:
        def ask(self, path: str) -> AgentAnswer:
            assert path == "/v1/files"
            return answers.pop(0)

    assert time.until(lambda: ask_for_files(Writing())) == ("db",)
    assert time.reported == [
        "waiting: the pod's files: Vault is sealed (step: vault); remedy: unseal it"
    ]
