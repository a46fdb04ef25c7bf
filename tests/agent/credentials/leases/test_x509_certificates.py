import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.leases.x509_certificates import lifetime_s

from tests.certificates import EARLIER, LASTS, Authority

LEAF = Authority("ours").server("127.0.0.1").certificate


def test_a_certificate_lasts_from_its_first_date_to_its_last() -> None:
    assert lifetime_s(LEAF) == (LASTS + EARLIER).total_seconds()
    assert lifetime_s(f"bag attributes\n{LEAF}{LEAF}") == lifetime_s(LEAF)


@pytest.mark.parametrize("year", [2049, 2050, 2120])
def test_dates_are_read_in_both_of_their_forms(year: int) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    first = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    last = datetime.datetime(year, 6, 1, 12, tzinfo=datetime.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, first, last)
    text = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
    assert lifetime_s(text) == (last - first).total_seconds()


@given(st.integers(0, len(LEAF)), st.characters(codec="ascii"))
def test_what_is_no_certificate_has_no_lifetime(at: int, odd: str) -> None:
    whole = lifetime_s(LEAF)
    assert lifetime_s(LEAF[:at]) in (None, whole)
    # It may tell anything else, and raises nothing.
    changed = lifetime_s(LEAF[:at] + odd + LEAF[at + 1 :])
    assert changed is None or changed >= 0


def test_lengths_that_lead_beyond_it_are_none() -> None:
    for content in ("MIT/////////", "MA==", "MIAA", "", "=" * 70000):
        assert lifetime_s(f"-----BEGIN CERTIFICATE-----{content}-----END CERTIFICATE-----") is None
