"""Signatures, by the examples that AWS publishes for S3 ("Authenticating requests: examples of the
Authorization header", read on 2026-11-24)."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.objects.signature_v4 import AccessKey, encoded_path, signed

KEY = AccessKey(
    "AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), "us-east-1"
)
AT = 1_369_353_600.0
"""2013-05-24, midnight."""
HOST = {"Host": "examplebucket.s3.amazonaws.com"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "query", "signature"),
    [
        (
            "GET", "/test.txt", {"Range": "bytes=0-9"}, b"", {},
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT", "/test$file.text",
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            b"Welcome to Amazon S3.", {},
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET", "/", {}, b"", {"lifecycle": ""},
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "GET", "/", {}, b"", {"prefix": "J", "max-keys": "2"},
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)  # fmt: skip
def test_the_published_examples_come_out(
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    query: Mapping[str, str],
    signature: str,
) -> None:
    found = signed(method, path, {**HOST, **headers}, body, query=query, key=KEY, at=AT)
    assert found["Authorization"].endswith(f"Signature={signature}")
    assert found["x-amz-date"] == "20130524T000000Z"


@given(
    st.sampled_from(["GET", "PUT"]),
    st.text(min_size=1, max_size=20),
    st.binary(max_size=50),
    st.floats(min_value=0, max_value=4e9),
)
def test_whatever_is_changed_changes_the_signature(
    method: str, path: str, body: bytes, at: float
) -> None:
    first = signed(method, path, HOST, body, key=KEY, at=at)["Authorization"]
    others = [
        signed("DELETE", path, HOST, body, key=KEY, at=at),
        signed(method, path + "x", HOST, body, key=KEY, at=at),
        signed(method, path, {"Host": "other"}, body, key=KEY, at=at),
        signed(method, path, HOST, body + b"x", key=KEY, at=at),
        signed(method, path, HOST, body, key=KEY, at=at + 86_400),
    ]
    assert first not in {one["Authorization"] for one in others}
    assert "wJalr" not in first
    assert encoded_path(path).isascii()
