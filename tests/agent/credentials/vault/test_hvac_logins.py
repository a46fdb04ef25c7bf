from collections.abc import Mapping
from typing import Any

import hvac  # type: ignore[import-untyped]
import pytest
from hvac import adapters
from nemutator_agent.credentials.vault.failures import LoginRefusedError, VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_logins import HvacLogins
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken, LoginProof
from nemutator_common.secret import Secret

MADE_AT = "auth/approle/role/app/secret-id"
WRAPPED = AppRole(role_id=Secret("id"), secret_id=Secret("wrap"), wrapping_path=MADE_AT)
LOOKUP, UNWRAP = "/v1/sys/wrapping/lookup", "/v1/sys/wrapping/unwrap"
TOKEN = {"auth": {"client_token": "hvs.made", "lease_duration": 60, "renewable": True}}


class Answers(adapters.Adapter):  # type: ignore[misc]
    """Has an answer for each path."""

    given: Mapping[str, Any] = {}

    def get_login_token(self, response: Any) -> str:
        raise NotImplementedError

    def request(self, method: str, url: str, **_: Any) -> Any:
        answer = self.given[url]
        if isinstance(answer, Exception):
            raise answer
        return answer


def logins(given: Mapping[str, Any]) -> HvacLogins:
    class Adapter(Answers):
        pass

    Adapter.given = given
    return HvacLogins(
        lambda token: hvac.Client(
            url="http://vault", token=token.reveal() if token else "", adapter=Adapter
        ),
        auth_mount="approle",
    )


def refused(*errors: str) -> hvac.exceptions.VaultError:
    return hvac.exceptions.InvalidRequest("; ".join(errors), json={"errors": list(errors)})


def test_a_refusal_says_what_was_asked_and_needs_no_second_opinion() -> None:
    denied = hvac.exceptions.Forbidden("permission denied", json={"errors": ["permission denied"]})
    asked = logins({"/v1/auth/approle/login": denied})
    with pytest.raises(LoginRefusedError, match="auth/approle/login: permission denied") as raised:
        asked.lease("", AppRole(role_id=Secret("id"), secret_id=Secret("word")))
    assert not raised.value.without_reason


def test_a_proxys_refusal_is_none_of_vaults() -> None:
    asked = logins({"/v1/auth/token/lookup-self": hvac.exceptions.Forbidden("<html>")})
    with pytest.raises(VaultUnavailableError, match="does not come from a Vault"):
        asked.lease("", GivenToken(Secret("hvs.given")))


@pytest.mark.parametrize(
    ("unwrapped", "why"),
    [
        ({"data": {"token": "x"}}, "no secret id"),
        ({"data": {"secret_id": ""}}, "no secret id"),
        (refused("wrapping token is not valid"), "the wrapped secret id: wrapping token"),
    ],
)
def test_what_is_not_a_wrapped_secret_id_is_refused(unwrapped: Any, why: str) -> None:
    asked = logins({LOOKUP: {"data": {"creation_path": MADE_AT}}, UNWRAP: unwrapped})
    with pytest.raises(LoginRefusedError, match=why):
        asked.lease("", WRAPPED)


@pytest.mark.parametrize(
    ("proof", "path", "answer"),
    [
        (GivenToken(Secret("t")), "/v1/auth/token/lookup-self", {"data": {"ttl": "1h"}}),
        (Secret("jwt"), "/v1/auth/approle/login", {"auth": {"lease_duration": 1}}),
        (Secret("jwt"), "/v1/auth/approle/login", []),
    ],
)
def test_an_answer_without_a_token_is_malformed(proof: LoginProof, path: str, answer: Any) -> None:
    with pytest.raises(VaultUnavailableError) as raised:
        logins({path: answer}).lease("app", proof)
    assert raised.value.reason == "malformed"


def test_what_was_unwrapped_is_kept_for_the_next_try() -> None:
    answers: dict[str, Any] = {
        LOOKUP: {"data": {"creation_path": MADE_AT}},
        UNWRAP: {"data": {"secret_id": "word"}},
        "/v1/auth/approle/login": refused("the database is locked"),
    }
    asked = logins(answers)
    with pytest.raises(LoginRefusedError, match="locked"):
        asked.lease("", WRAPPED)
    del answers[LOOKUP], answers[UNWRAP]
    answers["/v1/auth/approle/login"] = TOKEN
    lease = asked.lease("", WRAPPED)
    assert (lease.token.reveal(), lease.ttl_s, lease.ours) == ("hvs.made", 60.0, True)
