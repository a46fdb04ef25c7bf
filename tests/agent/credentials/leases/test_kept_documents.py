import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.leases.kept_documents import (
    LARGEST,
    asking,
    keeping,
    kept_document,
)
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.vault.documents import Document, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultAnswer
from nemutator_common.secret import Secret

PATH = "database/creds/shop"
GIVEN = GivenLease(f"{PATH}/abc", 60.0, True)
LEASE = RecoveredLease(PATH, granted(LeaseHolding(), GIVEN, 0.0, roll=0.5), 1, 2)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def answer(data: object, status: int = 200) -> VaultAnswer:
    return VaultAnswer(status=status, body=Secret(""), document={"data": data})


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_what_is_kept_comes_back_as_it_was(data: dict[str, object]) -> None:
    document = Document.of(data, None, lease=GIVEN)
    asked = keeping(PATH, LeasedDocument(document, LEASE.holding, 1))
    assert asked is not None
    assert (asked.method, asked.path) == ("PUT", asking(PATH).path)
    again = kept_document(answer(json.loads(asked.body.reveal())), LEASE)
    assert again is not None
    assert again.content == document.content
    assert again.lease == GIVEN
    assert [again.digest(key) for key in (None, *data)] == [
        document.digest(key) for key in (None, *data)
    ]


def test_each_path_has_a_place_of_its_own_that_does_not_show_it() -> None:
    assert asking(PATH).path != asking(f"{PATH}-2").path
    assert "shop" not in asking(PATH).path


def test_what_is_too_large_is_not_kept() -> None:
    large = Document.of({"word": "x" * LARGEST}, None, lease=GIVEN)
    assert keeping(PATH, LeasedDocument(large, LEASE.holding, 1)) is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"lease": "another", "content": "{}"},
        {"lease": GIVEN.id},
        {"lease": GIVEN.id, "content": {"a": 1}},
        {"lease": GIVEN.id, "content": "[]"},
        {"lease": GIVEN.id, "content": "{"},
        {"lease": GIVEN.id, "content": "[" * 10_000},
        {"lease": GIVEN.id, "content": json.dumps({"word": "x" * LARGEST})},
    ],
)
def test_what_somebody_else_has_written_there_is_not_taken(data: object) -> None:
    assert kept_document(answer(data), LEASE) is None


def test_a_refusal_is_no_document() -> None:
    data = {"lease": GIVEN.id, "content": "{}"}
    assert kept_document(answer(data), LEASE) is not None
    assert kept_document(answer(data, status=403), LEASE) is None
