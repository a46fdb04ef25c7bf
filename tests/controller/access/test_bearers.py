import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.access.bearers import (
    LONGEST_TOKEN,
    NODE_CLAIM,
    POD_CLAIM,
    Accounts,
    account,
    bearer,
    caller_of,
    may_be_ours,
)
from nemutator_controller.access.callers import Caller
from nemutator_controller.kube.reviews import TokenVerdict, User

from tests.fakes.reviews import account_token

AGENT = account("nemutator", "nemutator-agent")
ADMISSION = account("nemutator", "nemutator-admission")
ACCOUNTS = Accounts(agent=AGENT, admission=ADMISSION)


def verdict(
    username: str = AGENT,
    *,
    authenticated: bool = True,
    audiences: tuple[str, ...] = ("brain.nemutator.io",),
    claims: dict[str, tuple[str, ...]] = {NODE_CLAIM: ("n1",), POD_CLAIM: ("agent-x",)},  # noqa: B006
) -> TokenVerdict:
    user = User(username=username, extra=claims)
    return TokenVerdict(authenticated=authenticated, user=user, audiences=audiences)


def test_an_agent_is_bound_to_its_node_and_admission_to_its_pod() -> None:
    assert caller_of(verdict(), ACCOUNTS) == Caller("agent", "n1")
    assert caller_of(verdict(ADMISSION), ACCOUNTS) == Caller("admission", "agent-x")


@pytest.mark.parametrize(
    "wrong",
    [
        verdict(authenticated=False),
        verdict(audiences=()),
        verdict(audiences=("https://kubernetes.default.svc",)),
        verdict(username=account("other", "nemutator-agent")),
        verdict(username="nemutator-agent"),
        verdict(username=""),
        verdict(claims={}),
        verdict(claims={NODE_CLAIM: ()}),
        verdict(claims={NODE_CLAIM: ("n1", "n2")}),
        verdict(claims={NODE_CLAIM: ("../n1",)}),
        verdict(username=ADMISSION, claims={NODE_CLAIM: ("n1",)}),
    ],
)
def test_a_bearer_that_is_not_proven_is_nobody(wrong: TokenVerdict) -> None:
    assert caller_of(wrong, ACCOUNTS) is None


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Bearer " + "x" * LONGEST_TOKEN, "x" * LONGEST_TOKEN),
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


@pytest.mark.parametrize("subject", [AGENT, ADMISSION])
@pytest.mark.parametrize("audience", ["brain.nemutator.io", ["vault", "brain.nemutator.io"]])
def test_what_claims_to_be_ours_is_asked_about(subject: str, audience: object) -> None:
    assert may_be_ours(Secret(account_token(subject, audience=audience)), ACCOUNTS)


@pytest.mark.parametrize(
    "other",
    [
        "abc",
        "a.b",
        "a.b.c.d",
        "a.b.",
        "a b.c.d",
        "e30.e30.c2ln",
        "e30.bnVsbA.c2ln",
        "e30.W10.c2ln",
        f"e30.{'W1tb' * 2000}.c2ln",
        account_token(AGENT, audience=[]),
        account_token(AGENT, audience=None),
        account_token(AGENT, audience="https://kubernetes.default.svc"),
        account_token(account("shop", "nemutator-agent")),
        account_token(""),
    ],
)
def test_what_does_not_claim_to_be_ours_is_not_even_asked_about(other: str) -> None:
    assert not may_be_ours(Secret(other), ACCOUNTS)


@given(st.text(alphabet="AZaz09_-.", max_size=60))
def test_any_token_is_read(token: str) -> None:
    may_be_ours(Secret(token), ACCOUNTS)
