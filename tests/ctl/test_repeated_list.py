import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.repeated_list import CLEAR, split, watch

FLAGS = ("-w", "--watch")


@dataclass
class Looks:
    """A terminal that looks so many times."""

    times: int
    is_screen: bool = False
    written: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.written.append(text)

    def complain(self, text: str) -> None:
        self.complaints.append(text)

    def wait(self, seconds: float) -> bool:
        self.times -= 1
        return self.times > 0


GONE = OperatorError("the brain does not answer", remedy="wait", code=ExitCode.UNREACHABLE)


class Command:
    """Prints one text after another; None: it fails."""

    def __init__(self, *texts: str | None) -> None:
        self._texts = list(texts)

    def __call__(self, argv: Sequence[str]) -> int:
        text = self._texts.pop(0)
        if text is None:
            raise GONE
        sys.stdout.write(text)
        return 0


def test_a_program_is_told_each_line_once() -> None:
    looks = Looks(3)
    assert watch(Command("a\nb\n", "a\nb\nc\n", "c\n"), [], looks) == 0
    assert looks.written == ["a\nb\n", "c\n", ""]


def test_on_a_screen_the_list_is_drawn_anew() -> None:
    looks = Looks(2, is_screen=True)
    watch(Command("a\n", "b\n"), [], looks)
    assert looks.written == [f"{CLEAR}a\n", f"{CLEAR}b\n"]


def test_what_fails_later_is_said_once_and_waited_for() -> None:
    looks = Looks(4)
    watch(Command("a\n", None, None, "b\n"), [], looks)
    assert looks.written == ["a\n", "b\n"]
    assert len(looks.complaints) == 1
    assert "does not answer" in looks.complaints[0]


def test_what_fails_at_once_is_not_watched() -> None:
    with pytest.raises(OperatorError):
        watch(Command(None), [], Looks(2))


@given(st.lists(st.sampled_from(["-w", "--watch", "-n", "shop", "-o", "name"])))
def test_only_the_flag_is_taken_away(words: list[str]) -> None:
    watches, rest = split(words, FLAGS)
    assert watches == bool(set(words) & set(FLAGS))
    assert rest == [word for word in words if word not in FLAGS]
    assert split(["--", *words], FLAGS) == (False, ["--", *words])
