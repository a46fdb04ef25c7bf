import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.access.signing_keys import MOST_KEYS, KeySet, key_set

from tests.fakes.issuers import ISSUER, Issuer, Key, b64, ec_key, jwk, key_id, rsa_key, signature

DISCOVERY = Issuer().published().discovery
BOTH: list[Key] = [rsa_key(), ec_key()]


def read(*keys: object) -> KeySet:
    return key_set(DISCOVERY, msgspec.json.encode({"keys": keys}))


def test_both_kinds_of_keys_are_read_and_prove_what_they_signed() -> None:
    found = read(*map(jwk, BOTH))
    assert found.issuer == ISSUER
    for key, algorithm in zip(BOTH, ("RS256", "ES256"), strict=True):
        read_key = found.keys[key_id(key)]
        assert read_key.algorithm == algorithm
        good = signature(key, b"text")
        assert read_key.has_signed(b"text", good)
        assert not read_key.has_signed(b"other text", good)
        assert not read_key.has_signed(b"text", good[:-1])
        assert not read_key.has_signed(b"text", bytes(len(good)))
        assert not read_key.has_signed(b"text", b"\xff" * len(good))
        assert not read_key.has_signed(b"text", b"")


@pytest.mark.parametrize(
    "unusable",
    [
        {**jwk(rsa_key()), "alg": "PS256"},
        {**jwk(rsa_key()), "use": "enc"},
        {**jwk(ec_key()), "crv": "P-384"},
        {**jwk(ec_key()), "y": jwk(ec_key())["x"]},
        {**jwk(ec_key()), "x": 7},
        {**jwk(rsa_key()), "n": b64(b"\x80" + bytes(63))},
        {**jwk(rsa_key()), "n": b64(b"\x80" + bytes(4095) + b"\x01")},
        {**jwk(rsa_key()), "e": "AA"},
        {**jwk(rsa_key()), "kty": "oct", "k": "c2VjcmV0"},
        {"kid": key_id(rsa_key()), "kty": "RSA"},
    ],
)
def test_a_key_that_is_not_understood_is_known_by_its_id_and_proves_nothing(
    unusable: dict[str, object],
) -> None:
    found = read(unusable)
    assert not found.keys
    assert found.names(str(unusable["kid"]))


def test_of_two_keys_with_one_id_and_of_one_without_none_is_used() -> None:
    twice = {**jwk(ec_key()), "kid": key_id(rsa_key())}
    without = {name: value for name, value in jwk(ec_key()).items() if name != "kid"}
    found = read(jwk(rsa_key()), twice, without, jwk(ec_key("third")))
    assert set(found.keys) == {key_id(ec_key("third"))}
    assert found.unreadable == {key_id(rsa_key()), ""}


@pytest.mark.parametrize(
    ("discovery", "keys"),
    [
        (b"", b""),
        (b"[]", b"[]"),
        (DISCOVERY, b'{"keys": []}'),
        (DISCOVERY, b'{"keys": 7}'),
        (DISCOVERY, b"[" * 100_000),
        (DISCOVERY, msgspec.json.encode({"keys": [{}] * (MOST_KEYS + 1)})),
        (b'{"issuer": ""}', Issuer(ec_key()).published().keys),
    ],
)
def test_documents_that_say_nothing_are_refused(discovery: bytes, keys: bytes) -> None:
    with pytest.raises(ValueError, match=r"expected|not JSON|no issuer"):
        key_set(discovery, keys)


def test_a_member_that_is_no_key_is_none() -> None:
    assert read(7, jwk(ec_key())).keys.keys() == {key_id(ec_key())}


@given(
    st.dictionaries(
        st.sampled_from(["kty", "kid", "alg", "crv", "use", "n", "e", "x", "y"]),
        st.sampled_from(["RSA", "EC", "P-256", "sig", "AQAB", "", "é", "=", "a" * 300, 7, None]),
    )
)
def test_whatever_a_key_says_is_read_or_left(key: dict[str, object]) -> None:
    found = read(key)
    assert len(found.keys) + len(found.unreadable) == 1


def test_the_other_curve_of_the_same_family_is_not_taken() -> None:
    other = ec.generate_private_key(ec.SECP256K1()).public_key().public_numbers()
    said = {**jwk(ec_key()), "x": b64(other.x.to_bytes(32)), "y": b64(other.y.to_bytes(32))}
    assert not read(said).keys
