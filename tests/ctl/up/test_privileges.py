import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.settings import Privileges
from nemutator_ctl.up.privileges import Raising, agrees, decide


@given(st.sampled_from(Privileges), st.booleans(), st.booleans(), st.booleans())
def test_sudo_is_used_only_where_it_is_needed_wanted_and_there(
    wanted: Privileges, root: bool, terminal: bool, sudo: bool
) -> None:
    raising = decide(wanted, root=root, terminal=terminal, sudo=sudo)
    if raising in (Raising.ASK, Raising.WANTED):
        assert sudo
        assert not root
        assert wanted is not Privileges.NEVER
    if raising is Raising.ASK:
        assert terminal
        assert wanted is Privileges.ASK
    # Whoever is not root and not raised is told why.
    assert bool(raising.value) is not root


@pytest.mark.parametrize("answer", ["y\n", "Y", " yes \n", "YES"])
def test_a_yes(answer: str) -> None:
    assert agrees(answer)


@pytest.mark.parametrize("answer", ["", "\n", "n", "no", "yup", "y n", "\ufffd"])
def test_everything_else_is_a_no(answer: str) -> None:
    assert not agrees(answer)
