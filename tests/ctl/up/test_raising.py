import pytest
from nemutator_ctl.settings import Privileges
from nemutator_ctl.up.raising import SUDO_S, Outcome, outcome

from tests.fakes.people import FakePerson

PROGRAM = ("python", "-m", "nemutator_agent")
TRIAL = ("--", *PROGRAM, "--version")
SUDO = "/usr/bin/sudo"


async def found(
    person: FakePerson,
    wanted: Privileges = Privileges.ASK,
    *,
    root: bool = False,
    supervised: bool = False,
) -> Outcome:
    return await outcome(wanted, root=root, supervised=supervised, program=PROGRAM, person=person)


async def test_a_yes_and_a_password_raise_it() -> None:
    person = FakePerson()
    assert await found(person) == Outcome(SUDO, "as root")
    assert person.ran == [(SUDO, *TRIAL), (SUDO, "-n", *TRIAL)]


async def test_a_no_asks_sudo_nothing() -> None:
    person = FakePerson(answer="\n")
    assert await found(person) == Outcome(None, "as an ordinary user: it was not wanted")
    assert person.ran == []


@pytest.mark.parametrize("refusing", ["password", "remembered"])
async def test_a_refusal_of_sudo_is_said(refusing: str) -> None:
    person = FakePerson()
    setattr(person, refusing, False)
    assert await found(person) == Outcome(None, "as an ordinary user: sudo refused")


@pytest.mark.parametrize("wanted", [Privileges.ASK, Privileges.ALWAYS])
async def test_without_sudo_nobody_is_asked(wanted: Privileges) -> None:
    person = FakePerson(sudo_path=None)
    assert await found(person, wanted) == Outcome(
        None, "as an ordinary user: there is no sudo here"
    )
    assert person.questions == 0


async def test_without_a_terminal_nobody_is_asked() -> None:
    person = FakePerson(terminal=False)
    assert "no terminal" in (await found(person)).note
    assert (person.questions, person.ran) == (0, [])


async def test_under_a_supervisor_the_terminal_is_nobody_s() -> None:
    person = FakePerson()
    assert "no terminal" in (await found(person, supervised=True)).note
    assert person.questions == 0


async def test_always_asks_no_question_of_ours() -> None:
    person = FakePerson()
    assert await found(person, Privileges.ALWAYS) == Outcome(SUDO, "as root")
    assert person.questions == 0


@pytest.mark.parametrize("remembered", [True, False])
async def test_always_without_a_terminal_never_waits_for_a_password(remembered: bool) -> None:
    person = FakePerson(terminal=False, remembered=remembered)
    assert ((await found(person, Privileges.ALWAYS)).sudo == SUDO) is remembered
    assert person.ran == [(SUDO, "-n", *TRIAL)]
    assert person.deadlines == [SUDO_S]


async def test_never_and_root_ask_nobody() -> None:
    person = FakePerson()
    assert (await found(person, Privileges.NEVER)).note == "as an ordinary user: privileges=never"
    assert await found(person, Privileges.ALWAYS, root=True) == Outcome(None, "")
    assert (person.questions, person.ran) == (0, [])
