import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.settings import Privileges
from nemutator_ctl.up.privileges import (
    PASSWORD_S,
    QUESTION_S,
    SUDO_S,
    ObservePrivilege,
    RootDecision,
    agrees,
    decide,
    settle,
)

from tests.fakes.people import FakeTerminal


@given(st.sampled_from(Privileges), st.booleans(), st.booleans(), st.booleans())
def test_sudo_is_used_only_where_it_is_needed_wanted_and_there(
    wanted: Privileges, root: bool, terminal: bool, sudo: bool
) -> None:
    decision = decide(wanted, root=root, terminal=terminal, sudo=sudo)
    if decision in (RootDecision.ASK, RootDecision.WANTED):
        assert sudo
        assert not root
        assert wanted is not Privileges.NEVER
    if decision is RootDecision.ASK:
        assert terminal
        assert wanted is Privileges.ASK
    # Whoever is not root and not raised is told why.
    assert bool(decision.value) is not root


@pytest.mark.parametrize("answer", ["y\n", "Y", " yes \n", "YES"])
def test_a_yes(answer: str) -> None:
    assert agrees(answer)


@pytest.mark.parametrize("answer", ["", "\n", "n", "no", "yup", "y n", "\ufffd"])
def test_everything_else_is_a_no(answer: str) -> None:
    assert not agrees(answer)


PROGRAM = ("python", "-m", "nemutator_agent")
TRIAL = ("--", *PROGRAM, "--version")
SUDO = "/usr/bin/sudo"


async def found(
    terminal: FakeTerminal,
    wanted: Privileges = Privileges.ASK,
    *,
    root: bool = False,
    supervised: bool = False,
) -> ObservePrivilege:
    return await settle(
        wanted, root=root, supervised=supervised, program=PROGRAM, terminal=terminal
    )


async def test_a_yes_and_a_password_raise_it() -> None:
    terminal = FakeTerminal()
    assert await found(terminal) == ObservePrivilege(SUDO, "as root")
    assert terminal.ran == [(SUDO, *TRIAL), (SUDO, "-n", *TRIAL)]
    assert terminal.deadlines == [QUESTION_S, PASSWORD_S, SUDO_S]


async def test_a_no_asks_sudo_nothing() -> None:
    terminal = FakeTerminal(answer="\n")
    assert await found(terminal) == ObservePrivilege(None, "as an ordinary user: it was not wanted")
    assert terminal.ran == []


@pytest.mark.parametrize("refusing", ["password", "remembered"])
async def test_a_refusal_of_sudo_is_said(refusing: str) -> None:
    terminal = FakeTerminal()
    setattr(terminal, refusing, False)
    assert await found(terminal) == ObservePrivilege(None, "as an ordinary user: sudo refused")


@pytest.mark.parametrize("wanted", [Privileges.ASK, Privileges.ALWAYS])
async def test_without_sudo_nobody_is_asked(wanted: Privileges) -> None:
    terminal = FakeTerminal(sudo_path=None)
    assert await found(terminal, wanted) == ObservePrivilege(
        None, "as an ordinary user: there is no sudo here"
    )
    assert terminal.questions == []


async def test_the_question_says_what_root_is_for_and_that_silence_is_a_no() -> None:
    terminal = FakeTerminal(answer=None)
    assert (await found(terminal)).note.startswith("as an ordinary user: nobody answered")
    (question,) = terminal.questions
    assert "needed for flame graphs" in question
    assert f"{QUESTION_S:.0f} s" in question
    assert terminal.deadlines == [QUESTION_S]
    assert terminal.ran == []


async def test_without_a_terminal_nobody_is_asked() -> None:
    terminal = FakeTerminal(interactive=False)
    assert "no terminal" in (await found(terminal)).note
    assert (terminal.questions, terminal.ran) == ([], [])


async def test_under_a_supervisor_the_terminal_is_nobody_s() -> None:
    terminal = FakeTerminal()
    assert "no terminal" in (await found(terminal, supervised=True)).note
    assert terminal.questions == []


async def test_always_asks_no_question_of_ours() -> None:
    terminal = FakeTerminal()
    assert await found(terminal, Privileges.ALWAYS) == ObservePrivilege(SUDO, "as root")
    assert terminal.questions == []


@pytest.mark.parametrize("remembered", [True, False])
async def test_always_without_a_terminal_never_waits_for_a_password(remembered: bool) -> None:
    terminal = FakeTerminal(interactive=False, remembered=remembered)
    assert ((await found(terminal, Privileges.ALWAYS)).sudo == SUDO) is remembered
    assert terminal.ran == [(SUDO, "-n", *TRIAL)]
    assert terminal.deadlines == [SUDO_S]


async def test_never_and_root_ask_nobody() -> None:
    terminal = FakeTerminal()
    assert (await found(terminal, Privileges.NEVER)).note == "as an ordinary user: privileges=never"
    assert await found(terminal, Privileges.ALWAYS, root=True) == ObservePrivilege(None, "")
    assert (terminal.questions, terminal.ran) == ([], [])
