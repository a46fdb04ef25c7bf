from nemutator_agent.credentials.accounts import account
from nemutator_agent.credentials.documents import Document, Mount
from nemutator_agent.credentials.failures import DeniedError
from nemutator_agent.credentials.sessions import MOST_KEPT, MOST_KEPT_BYTES, Kept, Refused, Session
from nemutator_common.publications import PublishedPod

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api")


def kept(number: int) -> Kept:
    return Kept(Document.of({"n": number}, number), float(number))


def test_no_more_is_kept_than_a_pod_can_declare() -> None:
    session = Session(account(POD, None))
    for number in range(MOST_KEPT + 1):
        session.remember(f"secret/{number}", kept(number))
    assert len(session.kept) == MOST_KEPT
    assert "secret/0" not in session.kept


def test_what_is_kept_again_makes_no_room() -> None:
    session = Session(account(POD, None))
    for number in range(MOST_KEPT):
        session.remember(f"secret/{number}", kept(number))
    session.remember("secret/5", kept(99))
    assert "secret/0" in session.kept
    assert session.kept["secret/5"].authorised == 99


def test_what_is_forgotten_is_looked_for_from_its_mount_on() -> None:
    session = Session(account(POD, None))
    session.mounts["secret/a"] = Mount("secret/", 2)
    session.remember("secret/a", kept(1))
    session.forget("secret/a")
    session.forget("secret/never-known")
    assert not session.kept
    assert not session.mounts


def test_large_documents_push_out_older_ones() -> None:
    session = Session(account(POD, None))
    large = Document.of({"x": "é" * (MOST_KEPT_BYTES // 5)}, 1)
    for number in range(4):
        session.remember(f"secret/{number}", Kept(large, 0.0))
    assert list(session.kept) == ["secret/2", "secret/3"]
    assert sum(one.document.size for one in session.kept.values()) <= MOST_KEPT_BYTES


def test_a_refusal_is_another_one_each_time() -> None:
    """The same one would keep the frames of everybody who was told."""
    refused = Refused(DeniedError("no"), 1.0)
    again = refused.again()
    assert type(again) is DeniedError
    assert again is not refused.error
    assert again.why == "no"
