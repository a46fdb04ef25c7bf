"""Where a registry says that its tokens are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.images.challenges import (
    LONGEST_CHALLENGE,
    Challenge,
    parse_challenge,
    wants_password,
)

REALM = "https://auth.example/token"


@pytest.mark.parametrize(
    ("header", "service"),
    [
        (
            f'Bearer realm="{REALM}",service="registry.example",scope="repository:a:pull"',
            "registry.example",
        ),
        (f'bearer  service="s" , realm="{REALM}"', "s"),
        (f"Bearer realm={REALM}", ""),
        (f'Bearer scope="a,b", realm="{REALM}", realm="https://second.example"', ""),
    ],
)
def test_its_parameters_are_found(header: str, service: str) -> None:
    assert parse_challenge(header) == Challenge(REALM, service)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer realm=",
        'Bearer realm=""',
        'Basic realm="x"',
        'Negotiate realm="x"',
        'Bearerrealm="x"',
        "Bearer " + "a=b," * LONGEST_CHALLENGE + 'realm="late"',
    ],
)
def test_what_is_no_such_challenge_is_none(header: str) -> None:
    assert parse_challenge(header) is None


@pytest.mark.parametrize(
    ("header", "wants"),
    [('Basic realm="x"', True), ("  basic", True), (f'Bearer realm="{REALM}"', False), ("", False)],
)
def test_who_has_no_tokens_wants_the_password_itself(header: str, wants: bool) -> None:
    assert wants_password(header) is wants


@given(st.text(max_size=200))
def test_nothing_that_a_registry_sends_is_an_error(text: str) -> None:
    parse_challenge(text)
    parse_challenge(f"Bearer {text}")
    wants_password(text)
