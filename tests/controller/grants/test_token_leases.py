from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.grants.token_leases import TokenLease, fold

from tests.fakes.grants import grant

NOW = 1_700_000_000.0


def folded(*grants: Any) -> TokenLease | None:
    lease = None
    for one in grants:
        lease = fold(lease, one)
    return lease


def test_a_login_begins_a_lease() -> None:
    lease = folded(grant())
    assert lease is not None
    assert (lease.pod, lease.role, lease.since) == ("web-1", "shop.web", NOW)
    assert lease.state(now=NOW) == "active"
    assert lease.state(now=NOW + 3600) == "expired"


def test_a_renewal_prolongs_it_and_a_revocation_ends_it() -> None:
    renewed = folded(grant(), grant(operation="renew", at=NOW + 60, expires_at=NOW + 9000))
    assert renewed is not None
    assert (renewed.since, renewed.touched_at, renewed.expires_at) == (NOW, NOW + 60, NOW + 9000)
    revoked = folded(grant(), grant(operation="revoke", at=NOW + 70, expires_at=None))
    assert revoked is not None
    assert revoked.state(now=NOW + 71) == "revoked"


def test_a_login_after_the_end_begins_anew() -> None:
    lease = folded(grant(), grant(operation="revoke"), grant(at=NOW + 90))
    assert lease is not None
    assert (lease.since, lease.revoked) == (NOW + 90, False)


def test_the_end_of_a_token_that_has_a_successor_is_not_the_end_of_the_lease() -> None:
    login = grant(at=NOW + 60, expires_at=NOW + 9000)
    lease = folded(grant(), login, grant(operation="revoke", reason="superseded", at=NOW + 61))
    assert lease == folded(login)
    assert lease is not None
    assert lease.state(now=NOW + 62) == "active"


def test_reading_makes_no_lease_and_a_token_without_end_does_not_expire() -> None:
    assert folded(grant(operation="read"), grant(operation="renew")) is None
    lease = folded(grant(expires_at=None))
    assert lease is not None
    assert lease.state(now=1e12) == "active"


@given(st.sampled_from(["denied", "failed"]), st.sampled_from(["login", "renew", "revoke"]))
def test_what_was_not_granted_changes_nothing(result: str, operation: str) -> None:
    refused = grant(result=result, operation=operation, at=NOW + 1)
    assert folded(refused) is None
    assert folded(grant(), refused) == folded(grant())
