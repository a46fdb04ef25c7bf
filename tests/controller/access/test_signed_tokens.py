from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.signed_tokens import SKEW_S, BoundPod, agent_of, unproven
from nemutator_controller.access.signing_keys import key_set

from tests.fakes.issuers import (
    AGENT,
    ISSUER,
    NOW,
    Issuer,
    Key,
    claims,
    ec_key,
    key_id,
    rsa_key,
    token,
)

ACCOUNTS = Accounts(AGENT, "system:serviceaccount:nemutator:nemutator-admission")


def agent(said: dict[str, Any], *, now: float = NOW) -> Caller | None:
    sent = unproven(token(ec_key(), said))
    assert sent is not None
    found = agent_of(sent.payload, ACCOUNTS, issuer=ISSUER, now=now)
    return None if found is None else found.caller


@pytest.mark.parametrize("key", [rsa_key(), ec_key()])
def test_what_a_key_has_signed_is_told_from_what_another_has(key: Key) -> None:
    published = Issuer(key).published()
    keys = key_set(published.discovery, published.keys)
    sent = unproven(token(key))
    assert sent is not None
    assert sent.key_id == key_id(key)
    assert sent.is_signed_by(keys.keys[sent.key_id])
    for other in (rsa_key("other"), ec_key("other")):
        foreign = Issuer(other).published()
        assert not sent.is_signed_by(key_set(foreign.discovery, foreign.keys).keys[key_id(other)])


def test_an_agent_is_its_node_and_its_pod() -> None:
    sent = unproven(token(ec_key()))
    assert sent is not None
    found = agent_of(sent.payload, ACCOUNTS, issuer=ISSUER, now=NOW)
    assert found is not None
    assert found.caller == Caller("agent", "n1")
    assert found.pod == BoundPod("n1", "nemutator", "agent-n1", "pod-uid-n1")
    assert found.expires_at == NOW + 3600


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOW - SKEW_S, True),
        (NOW - SKEW_S - 1, False),
        (NOW + 3600 + SKEW_S - 1, True),
        (NOW + 3600 + SKEW_S, False),
    ],
)
def test_a_token_counts_in_its_time_and_a_little_around_it(now: float, expected: bool) -> None:
    assert (agent(claims(), now=now) is not None) is expected


BOUND: dict[str, Any] = claims()["kubernetes.io"]


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://elsewhere"},
        {"iss": None},
        {"aud": "vault"},
        {"aud": []},
        {"aud": {"brain.nemutator.io": 1}},
        {"sub": ACCOUNTS.admission},
        {"sub": [AGENT]},
        {"exp": None},
        {"exp": True},
        {"exp": "tomorrow"},
        {"exp": 10**400},
        {"nbf": int(NOW) + 3000},
        {"nbf": "now"},
        {"kubernetes.io": None},
        {"kubernetes.io": {**BOUND, "node": {}}},
        {"kubernetes.io": {**BOUND, "node": {"name": ["n1"]}}},
        {"kubernetes.io": {**BOUND, "node": {"name": "n1\n"}}},
        {"kubernetes.io": {**BOUND, "pod": {"name": "agent-n1"}}},
        {"kubernetes.io": {**BOUND, "pod": "agent-n1"}},
        {"kubernetes.io": {**BOUND, "namespace": ""}},
    ],
)
def test_whatever_else_it_says_is_for_the_api_server_to_judge(changed: dict[str, Any]) -> None:
    assert agent({**claims(), **changed}) is None


def test_one_audience_may_stand_alone() -> None:
    assert agent({**claims(), "aud": "brain.nemutator.io"}) == Caller("agent", "n1")


@given(st.text(max_size=200))
def test_any_text_is_a_token_or_none(text: str) -> None:
    unproven(text)


@given(st.binary(max_size=400))
def test_any_payload_is_an_agent_or_none(payload: bytes) -> None:
    assert agent_of(payload, ACCOUNTS, issuer=ISSUER, now=NOW) is None
