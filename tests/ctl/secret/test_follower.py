from collections.abc import Iterator

import pytest
from nemutator_ctl.secret.changes import Notice
from nemutator_ctl.secret.follower import follow
from nemutator_init.answers import NeverError, NotYetError

Script = list[bytes | Exception]


class Agent:
    """Answers each question with the next of its scripts, and at last refuses."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.asked: list[str] = []
        self.shown: list[Notice] = []
        self.reports: list[str] = []
        self.clock = 0.0

    def stream(self, path: str) -> Iterator[bytes]:
        self.asked.append(path)
        for line in self.scripts.pop(0) if self.scripts else [NeverError("refused")]:
            if isinstance(line, Exception):
                raise line
            yield line

    def follow(self, *wanted: str) -> str:
        with pytest.raises(NeverError) as raised:
            follow(
                self.stream,
                wanted=wanted,
                show=self.shown.append,
                wait_s=5.0,
                now=lambda: self.clock,
                sleep=self._sleep,
                roll=lambda: 0.5,
                report=self.reports.append,
            )
        return str(raised.value)

    def _sleep(self, seconds: float) -> None:
        self.clock += seconds


HELLO = b'{"sequence":7}'
CHANGE = b'{"name":"db","version":3,"sequence":8}'
OTHER = b'{"name":"other","version":1,"sequence":9}'


def test_changes_of_wanted_names_are_shown() -> None:
    agent = Agent([HELLO, CHANGE, OTHER])
    assert agent.follow("db") == "refused"
    assert agent.shown == [Notice(8, "db", 3)]
    agent = Agent([HELLO, CHANGE, OTHER])
    agent.follow()
    assert [change.name for change in agent.shown] == ["db", "other"]


def test_after_a_restart_it_asks_for_what_came_meanwhile() -> None:
    agent = Agent([HELLO, CHANGE], [NotYetError("no answer")], [b'{"missed":true,"sequence":90}'])
    agent.follow()
    assert agent.asked[:3] == ["/v1/watch", "/v1/watch?after=8", "/v1/watch?after=8"]
    assert agent.asked[3] == "/v1/watch?after=90"
    assert agent.reports[:3] == [
        "watching",
        "waiting: the agent has ended the stream",
        "watching",
    ]
    assert "there may have been changes" in agent.reports[3]


def test_an_agent_that_does_not_come_back_ends_it() -> None:
    silence: list[Script] = [[NotYetError("no answer; remedy: start it")]] * 100
    agent = Agent([HELLO], *silence)
    assert agent.follow() == "waited 5 s; no answer; remedy: start it"
    assert agent.clock >= 5.0


def test_a_line_that_ends_the_stream_ends_it() -> None:
    agent = Agent([HELLO, b'{"error":"not let in","remedy":"x","step":"alive"}'])
    assert "not let in" in agent.follow()
