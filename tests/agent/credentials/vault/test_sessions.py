import pytest
from nemutator_agent.credentials.leases.leased_documents import RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseHolding, LeaseState, granted, renewing
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.cache import CachedDocument
from nemutator_agent.credentials.vault.documents import Document, EngineMount, GivenLease
from nemutator_agent.credentials.vault.leases import Lease, hold
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.publications import PublishedPod
from nemutator_common.secret import Secret

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api")


def test_what_is_forgotten_is_looked_for_from_its_mount_on() -> None:
    session = VaultSession(account(POD, None))
    session.mounts["secret/"] = EngineMount("secret/", 2)
    session.cache.put("secret/a", CachedDocument(Document.of({"n": 1}, 1), 1.0))
    session.forget("secret/a")
    session.forget("secret/never-known")
    assert not session.cache
    assert not session.mounts


def test_a_mount_is_known_for_all_paths_below_it() -> None:
    session = VaultSession(account(POD, None))
    kv = session.mounts["secret/"] = EngineMount("secret/", 2)
    assert session.mount_of("secret/a") is session.mount_of("secret/data/b/c") is kv
    assert session.mount_of("secrets/a") is None


PATH = "database/creds/shop"
GIVEN = GivenLease(f"{PATH}/abc", 60.0, renewable=True)
LENT = Document.of({"password": "x"}, None, lease=GIVEN)


def after_a_restart(*, token: int = 1) -> tuple[VaultSession, RecoveredLease]:
    session = VaultSession(account(POD, None))
    session.held = hold(Lease(Secret("hvs.x"), 3600.0, True), 0.0, entry=1, roll=0.5)
    lease = RecoveredLease(PATH, granted(LeaseHolding(), GIVEN, 0.0, roll=0.5), token, 2)
    session.recovered[lease.lease_id] = lease
    return session, lease


def test_a_recovered_lease_is_one_like_others_once_it_is_known_what_it_lends() -> None:
    session, lease = after_a_restart()
    assert session.recovered_at(PATH, 1.0) == [lease]
    adopted = session.adopt(lease, LENT, 1.0)
    assert adopted is not None
    assert (adopted.holding, adopted.entry, adopted.kept) == (lease.holding, 2, True)
    assert session.lent(PATH, 1.0) is adopted
    assert session.recovered == {}
    # It is not adopted twice.
    assert session.adopt(lease, LENT, 1.0) is None
    assert session.release(GIVEN.id) == 2


@pytest.mark.parametrize("how", ["elsewhere", "ended", "superseded", "without a token"])
def test_one_that_is_good_for_nothing_is_not_looked_for(how: str) -> None:
    session, _ = after_a_restart(token=9 if how == "superseded" else 1)
    if how == "without a token":
        session.held = None
    path = "database/creds/other" if how == "elsewhere" else PATH
    assert session.recovered_at(path, 100.0 if how == "ended" else 1.0) == []


def test_one_that_is_renewed_at_this_moment_is_renewed_again() -> None:
    session, lease = after_a_restart()
    lease.holding = renewing(lease.holding)
    adopted = session.adopt(lease, LENT, 40.0)
    assert adopted is not None
    assert adopted.holding.state is LeaseState.GRANTED
    assert 40.0 < adopted.holding.due < adopted.holding.ends
