from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.vault.documents import Document, GivenLease


def test_a_leased_document_is_known_by_its_lease() -> None:
    lease = GivenLease("database/creds/shop/abc", 60.0, True)
    document = Document.of({"password": "x"}, None, lease=lease)
    assert LeasedDocument(document, LeaseHolding(), 1).lease_id == lease.id
    assert LeasedDocument(Document.of({}, None), LeaseHolding(), 1).lease_id == ""


def test_a_recovered_lease_is_known_by_its_lease() -> None:
    given = GivenLease("database/creds/shop/abc", 60.0, True)
    holding = granted(LeaseHolding(), given, 0.0, roll=0.5)
    assert RecoveredLease("database/creds/shop", holding, 1, 2).lease_id == given.id
    assert RecoveredLease("database/creds/shop", LeaseHolding(), 1, 2).lease_id == ""
