import ssl
from dataclasses import replace

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.registration.certificates import (
    LEAF_S,
    Pair,
    certificates_only,
    is_authority,
    is_due,
    issue,
    new_authority,
)

NOW = 1_800_000_000.0
DAY = 86_400.0
NAMES = ("nemutator-brain.nemutator.svc", "10.0.0.7")

AUTHORITY = new_authority("nemutator", now=NOW)
LEAF = issue(AUTHORITY, NAMES, now=NOW)


def test_a_leaf_is_for_its_names_and_signed_by_its_authority() -> None:
    certificate = x509.load_pem_x509_certificate(LEAF.certificate.encode())
    certificate.verify_directly_issued_by(
        x509.load_pem_x509_certificate(AUTHORITY.certificate.encode())
    )
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert found.get_values_for_type(x509.DNSName) == [NAMES[0]]
    assert [str(address) for address in found.get_values_for_type(x509.IPAddress)] == [NAMES[1]]


def test_openssl_takes_the_authority_and_keys_are_not_shown() -> None:
    ssl.create_default_context(cadata=AUTHORITY.certificate)
    assert "PRIVATE" not in repr(AUTHORITY) + repr(LEAF)


def test_a_leaf_is_due_at_two_thirds_of_its_life() -> None:
    assert not is_due(LEAF, AUTHORITY, NAMES, now=NOW)
    assert not is_due(LEAF, AUTHORITY, NAMES, now=NOW + LEAF_S * 0.66)
    assert is_due(LEAF, AUTHORITY, NAMES, now=NOW + LEAF_S * 0.67)


@pytest.mark.parametrize(
    "leaf",
    [
        None,
        Pair("", Secret("")),
        Pair("nonsense", LEAF.key),
        replace(LEAF, key=AUTHORITY.key),
        issue(new_authority("nemutator", now=NOW), NAMES, now=NOW),
        issue(AUTHORITY, NAMES[:1], now=NOW),
        issue(AUTHORITY, (*NAMES, "more"), now=NOW),
        issue(AUTHORITY, NAMES, now=NOW + DAY),
    ],
)
def test_what_is_not_right_is_due(leaf: Pair | None) -> None:
    assert is_due(leaf, AUTHORITY, NAMES, now=NOW)


def test_an_authority_has_to_outlive_what_it_signs() -> None:
    assert is_authority(AUTHORITY, now=NOW)
    assert not is_authority(AUTHORITY, now=NOW + 3650 * DAY - LEAF_S)
    assert not is_authority(LEAF, now=NOW)
    assert not is_authority(Pair("", Secret("")), now=NOW)
    assert not is_authority(replace(AUTHORITY, key=LEAF.key), now=NOW)


def test_only_certificates_may_be_published() -> None:
    assert certificates_only(AUTHORITY.certificate)
    assert certificates_only(AUTHORITY.certificate + "\n" + LEAF.certificate)
    key = AUTHORITY.key.reveal()
    for bundle in (
        "",
        key,
        AUTHORITY.certificate + key,
        key + AUTHORITY.certificate,
        "text\n" + AUTHORITY.certificate,
    ):
        assert not certificates_only(bundle)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert not certificates_only(text)
