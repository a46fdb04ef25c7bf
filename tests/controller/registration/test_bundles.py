import base64
from typing import Any

import pytest
from nemutator_controller.registration.bundles import bundle_patch
from nemutator_controller.registration.certificates import new_authority

AUTHORITY = new_authority("nemutator", now=1_800_000_000.0)
BUNDLE = base64.b64encode(AUTHORITY.certificate.encode()).decode()


def entry(name: str, bundle: str | None = None) -> dict[str, Any]:
    return {"name": name, "clientConfig": {} if bundle is None else {"caBundle": bundle}}


def test_our_entries_are_patched_and_no_others() -> None:
    entries = [
        entry("pods.nemutator.io"),
        entry("pods.example.com"),
        entry("right.nemutator.io", BUNDLE),
        entry("old.nemutator.io", "b2xk"),
    ]
    assert bundle_patch({"webhooks": entries}, AUTHORITY.certificate) == [
        {"op": "test", "path": "/webhooks/0/name", "value": "pods.nemutator.io"},
        {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": BUNDLE},
        {"op": "test", "path": "/webhooks/3/name", "value": "old.nemutator.io"},
        {"op": "add", "path": "/webhooks/3/clientConfig/caBundle", "value": BUNDLE},
    ]


@pytest.mark.parametrize("configuration", [{}, {"webhooks": None}, {"webhooks": []}])
def test_without_entries_nothing_is_patched(configuration: dict[str, Any]) -> None:
    assert bundle_patch(configuration, AUTHORITY.certificate) == []


def test_a_key_is_never_published() -> None:
    with pytest.raises(ValueError, match="nothing but certificates"):
        bundle_patch({"webhooks": []}, AUTHORITY.certificate + AUTHORITY.key.reveal())
