import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.exec.variables import (
    LONGEST_STRING,
    environment,
    not_executed,
    split,
    wanted_variables,
    without_pythons,
)


def test_each_variable_has_its_secret() -> None:
    assert wanted_variables(["DB_PASSWORD=db", "_x=tls.key"]) == {
        "DB_PASSWORD": "db",
        "_x": "tls.key",
    }
    assert wanted_variables(["A=db", "B=db"]) == {"A": "db", "B": "db"}


@pytest.mark.parametrize(
    "text", ["", "A", "A=", "=db", "1A=db", "A B=db", "A=a/b", "A=../db", "Ä=db"]
)
def test_what_is_no_variable_with_a_secret_is_refused(text: str) -> None:
    with pytest.raises(OperatorError, match="not a variable") as refused:
        wanted_variables([text])
    assert refused.value.code is ExitCode.USAGE


def test_a_variable_that_is_named_twice_is_refused() -> None:
    with pytest.raises(OperatorError, match="names A twice"):
        wanted_variables(["A=db", "A=other"])


@given(st.lists(st.sampled_from(["-x", "--env", "A=b", "env"])), st.lists(st.text(max_size=3)))
def test_everything_after_the_first_dashes_is_the_command(
    own: list[str], command: list[str]
) -> None:
    assert split([*own, "--", *command]) == (own, command)
    assert split(own) == (own, ())


def test_values_come_on_top_of_what_is_inherited() -> None:
    made = environment(
        {b"PATH": b"/bin", b"A": b"old"}, {"A": "db", "B": "db"}, {"db": b"\xff x=y"}
    )
    assert made == {b"PATH": b"/bin", b"A": b"\xff x=y", b"B": b"\xff x=y"}


@pytest.mark.parametrize(
    ("started_with", "is_kept"),
    [
        (b"A=1\0", False),
        (b"A=1\0LC_CTYPE=C.UTF-8\0", True),
        (b"X_LC_CTYPE=1\0", False),
        (None, True),
    ],
)
def test_the_command_has_not_what_python_adds_for_itself(
    started_with: bytes | None, is_kept: bool
) -> None:
    inherited = {b"A": b"1", b"LC_CTYPE": b"C.UTF-8"}
    found = without_pythons(inherited, started_with)
    assert found == (inherited if is_kept else {b"A": b"1"})


@pytest.mark.parametrize("value", [b"hunter2\0", b"hunter2" * LONGEST_STRING])
def test_what_no_environment_can_hold_is_refused_without_showing_it(value: bytes) -> None:
    with pytest.raises(OperatorError, match="secret 'db'") as refused:
        environment({}, {"A": "db"}, {"db": value})
    assert refused.value.code is ExitCode.NOT_STARTED
    assert "hunter2" not in str(refused.value)


def test_the_longest_string_that_linux_takes_is_passed_on() -> None:
    longest = b"x" * (LONGEST_STRING - len("A=") - 1)
    assert environment({}, {"A": "db"}, {"db": longest}) == {b"A": longest}
    with pytest.raises(OperatorError, match="too long"):
        environment({}, {"A": "db"}, {"db": longest + b"x"})


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOENT, "on PATH"),
        (errno.EACCES, "may execute"),
        (errno.E2BIG, "from the socket"),
    ],
)
def test_what_cannot_be_executed_is_said_with_what_helps(number: int, remedy: str) -> None:
    refused = not_executed("serve", OSError(number, os.strerror(number)))
    assert (refused.code, refused.what) == (ExitCode.NOT_STARTED, f"serve: {os.strerror(number)}")
    assert remedy in refused.remedy
