import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.units.unit_names import LONGEST, name_fault


@pytest.mark.parametrize(
    "name",
    [
        "ssh.service",
        "getty@tty1.service",
        r"systemd-fsck@dev-disk-by\x2duuid-1.service",
        "-.service",
        "a..b.service",
        "x" * (LONGEST - 8) + ".service",
    ],
)
def test_names_of_services_are_taken_with_their_escapes_and_instances(name: str) -> None:
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "only services"),
        ("ssh", "only services"),
        ("session-1.scope", "only services"),
        ("user.slice", "only services"),
        (".service", "expected letters"),
        ("...service", "expected letters"),
        ("../etc.service", "expected letters"),
        ("a/b.service", "expected letters"),
        ("*.service", "expected letters"),
        ("a b.service", "expected letters"),
        ("a\nb.service", "expected letters"),
        ("a\0.service", "expected letters"),
        ("é.service", "expected letters"),
        ("getty@.service", "a template does not run"),
        ("@tty1.service", "the name of its template"),
        ("x" * LONGEST + ".service", "longer than 253"),
    ],
)
def test_what_names_no_service_is_refused_and_says_why(name: str, why: str) -> None:
    assert why in name_fault(name)


@given(st.text(max_size=40).map(lambda text: f"{text}.service"))
def test_whatever_is_taken_is_one_word_in_one_folder(name: str) -> None:
    if not name_fault(name):
        assert "/" not in name
        assert name.isascii()
        assert name.isprintable()
        assert f"{name}.d" not in (".", "..")
