import pytest
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault_api.kv_paths import (
    document_path,
    is_changed_by,
    without_data,
)

KV2, KV1 = EngineMount("team/kv/", 2), EngineMount("kv1/", 1)


@pytest.mark.parametrize(
    ("mount", "path", "document"),
    [
        (KV2, "team/kv/data/shop/db", "team/kv/shop/db"),
        (KV2, "team/kv/data/data", "team/kv/data"),
        (KV2, "team/kv/data", None),
        (KV2, "team/kv/metadata/shop/db", None),
        (KV2, "team/kv/subkeys/shop/db", None),
        (KV1, "kv1/shop", "kv1/shop"),
        (KV1, "kv1", None),
        (EngineMount("transit/", None, "transit"), "transit/data/x", None),
    ],
)
def test_a_read_of_a_document_is_known(mount: EngineMount, path: str, document: str | None) -> None:
    assert document_path(mount, path) == document


@pytest.mark.parametrize("kind", ["data", "delete", "undelete", "destroy", "metadata"])
def test_a_write_changes_its_own_document(kind: str) -> None:
    assert is_changed_by(KV2, "team/kv/shop/db", f"team/kv/{kind}/shop/db")
    assert not is_changed_by(KV2, "team/kv/shop", f"team/kv/{kind}/shop/db")
    assert is_changed_by(KV1, "kv1/shop", "kv1/shop")
    assert not is_changed_by(KV1, "kv1/shop", "kv1/shop/db")
    assert not is_changed_by(KV2, "team/kv/shop", "team/kv/config")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("secret/data/shop/db", "secret/shop/db"),
        ("secret/metadata/shop", "secret/metadata/shop"),
        ("secret", "secret"),
        ("database/creds/shop", "database/creds/shop"),
    ],
)
def test_a_message_names_a_document_as_people_do(path: str, named: str) -> None:
    assert without_data(path) == named
