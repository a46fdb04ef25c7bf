from nemutator_agent.credentials.leases.leased_documents import LeasedDocument
from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.vault.documents import Document, GivenLease


def test_a_leased_document_is_known_by_its_lease() -> None:
    lease = GivenLease("database/creds/shop/abc", 60.0, True)
    document = Document.of({"password": "x"}, None, lease=lease)
    assert LeasedDocument(document, LeaseHolding(), 1).lease_id == lease.id
    assert LeasedDocument(Document.of({}, None), LeaseHolding(), 1).lease_id == ""
