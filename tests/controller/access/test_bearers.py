from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.access.bearers import (
    LONGEST_TOKEN,
    NODE_CLAIM,
    POD_CLAIM,
    Accounts,
    Reviewed,
    account,
    bearer,
    caller_of,
    may_be_projected,
)
from nemutator_controller.access.callers import Caller

AGENT = account("nemutator", "nemutator-agent")
ADMISSION = account("nemutator", "nemutator-admission")
ACCOUNTS = Accounts(agent=AGENT, admission=ADMISSION)

GOOD = Reviewed(
    authenticated=True,
    username=AGENT,
    audiences=("brain.nemutator.io",),
    claims={NODE_CLAIM: ("n1",), POD_CLAIM: ("agent-x",)},
)


def test_an_agent_is_bound_to_its_node_and_admission_to_its_pod() -> None:
    assert caller_of(GOOD, ACCOUNTS) == Caller("agent", "n1")
    admission = replace(GOOD, username=ADMISSION)
    assert caller_of(admission, ACCOUNTS) == Caller("admission", "agent-x")


@pytest.mark.parametrize(
    "wrong",
    [
        replace(GOOD, authenticated=False),
        replace(GOOD, audiences=()),
        replace(GOOD, audiences=("https://kubernetes.default.svc",)),
        replace(GOOD, username=account("other", "nemutator-agent")),
        replace(GOOD, username="nemutator-agent"),
        replace(GOOD, username=""),
        replace(GOOD, claims={}),
        replace(GOOD, claims={NODE_CLAIM: ()}),
        replace(GOOD, claims={NODE_CLAIM: ("n1", "n2")}),
        replace(GOOD, claims={NODE_CLAIM: ("../n1",)}),
        replace(GOOD, username=ADMISSION, claims={NODE_CLAIM: ("n1",)}),
    ],
)
def test_whoever_is_not_proven_is_nobody(wrong: Reviewed) -> None:
    assert caller_of(wrong, ACCOUNTS) is None


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic abc", None),
        ("Bearer a\x00b", None),
        ("Bearer ü", None),
        ("Bearer " + "x" * (LONGEST_TOKEN + 1), None),
    ],
)
def test_a_token_is_what_follows_the_word(header: str | None, token: str | None) -> None:
    found = bearer(header)
    assert (found and found.reveal()) == token


@given(st.text())
def test_any_header_is_read(header: str) -> None:
    found = bearer(header)
    assert found is None or found.reveal() in header


def test_only_what_looks_like_a_signed_token_is_asked_about() -> None:
    assert may_be_projected(Secret("e30.e30.c2ln"))
    for other in ("abc", "a.b", "a.b.c.d", "a.b.", "a b.c.d"):
        assert not may_be_projected(Secret(other))
