from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.failures import VaultDeniedError
from nemutator_agent.credentials.vault.sessions import (
    MOST_KEPT,
    MOST_KEPT_BYTES,
    CachedDenial,
    CachedDocument,
    VaultSession,
)
from nemutator_common.publications import PublishedPod

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api")


def kept(number: int) -> CachedDocument:
    return CachedDocument(Document.of({"n": number}, number), float(number))


def test_no_more_is_kept_than_a_pod_can_declare() -> None:
    session = VaultSession(account(POD, None))
    for number in range(MOST_KEPT + 1):
        session.remember(f"secret/{number}", kept(number))
    assert len(session.kept) == MOST_KEPT
    assert "secret/0" not in session.kept


def test_what_is_kept_again_makes_no_room() -> None:
    session = VaultSession(account(POD, None))
    for number in range(MOST_KEPT):
        session.remember(f"secret/{number}", kept(number))
    session.remember("secret/5", kept(99))
    assert "secret/0" in session.kept
    assert session.kept["secret/5"].authorised == 99


def test_what_is_forgotten_is_looked_for_from_its_mount_on() -> None:
    session = VaultSession(account(POD, None))
    session.mounts["secret/a"] = EngineMount("secret/", 2)
    session.remember("secret/a", kept(1))
    session.forget("secret/a")
    session.forget("secret/never-known")
    assert not session.kept
    assert not session.mounts


def test_large_documents_push_out_older_ones() -> None:
    session = VaultSession(account(POD, None))
    large = Document.of({"x": "é" * (MOST_KEPT_BYTES // 5)}, 1)
    for number in range(4):
        session.remember(f"secret/{number}", CachedDocument(large, 0.0))
    assert list(session.kept) == ["secret/2", "secret/3"]
    assert sum(one.document.size for one in session.kept.values()) <= MOST_KEPT_BYTES


def test_a_refusal_is_another_one_each_time() -> None:
    """The same one would keep the frames of everybody who was told."""
    refused = CachedDenial(VaultDeniedError("no"), 1.0)
    again = refused.again()
    assert type(again) is VaultDeniedError
    assert again is not refused.error
    assert again.why == "no"
