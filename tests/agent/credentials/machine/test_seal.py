import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.machine.seal import (
    KEY_BYTES,
    MAGIC,
    NONCE_BYTES,
    SealError,
    seal,
    unseal,
)

KEY = bytes(range(KEY_BYTES))
NONCE = bytes(NONCE_BYTES)


@given(st.binary(max_size=200), st.binary(min_size=NONCE_BYTES, max_size=NONCE_BYTES))
def test_what_was_sealed_is_unsealed(plain: bytes, nonce: bytes) -> None:
    assert unseal(seal(plain, key=KEY, nonce=nonce), key=KEY) == plain


@given(st.data())
def test_every_change_is_noticed(data: st.DataObject) -> None:
    sealed = bytearray(seal(b"the secrets", key=KEY, nonce=NONCE))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SealError):
        unseal(bytes(sealed), key=KEY)


@pytest.mark.parametrize("length", [0, len(MAGIC), len(MAGIC) + 5, len(MAGIC) + NONCE_BYTES + 8])
def test_a_torn_file_is_noticed(length: int) -> None:
    with pytest.raises(SealError):
        unseal(seal(b"the secrets", key=KEY, nonce=NONCE)[:length], key=KEY)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(SealError, match="another key"):
        unseal(seal(b"x", key=KEY, nonce=NONCE), key=bytes(KEY_BYTES))


def test_a_nonce_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="12 bytes"):
        seal(b"x", key=KEY, nonce=b"short")
