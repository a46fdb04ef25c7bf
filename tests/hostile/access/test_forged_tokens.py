"""Tokens that nobody but an attacker would write. None is believed, and the API server hears of none."""

import base64
import contextlib
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.access.bearers import LONGEST_TOKEN
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.key_reading import AGAIN_S
from nemutator_controller.access.proving import REVIEWS_AT_ONCE
from nemutator_controller.access.token_reviews import MOST_CALLERS, UnknownNowError

from tests.controller.access.test_proving import ADMISSION, ProvenDoor
from tests.fakes.issuers import (
    AGENT,
    b64,
    claims,
    ec_key,
    header,
    jwk,
    key_id,
    number,
    rsa_key,
    signature,
    token,
    written,
)

encoded = msgspec.json.encode
P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def keyed(key: bytes, head: dict[str, object]) -> str:
    """A token that is "signed" by HMAC with *key*."""
    signed = f"{b64(encoded(head))}.{b64(encoded(claims()))}"
    return f"{signed}.{b64(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def forged() -> Iterator[tuple[str, str]]:
    ours, stranger, curve = rsa_key(), rsa_key("stranger"), ec_key("stranger")
    good, payload = header(ours), encoded(claims())
    head, body, sign = token(ours).split(".")
    for algorithm in ("none", "None", "NONE", "nOnE", ""):
        bare = b64(encoded({**good, "alg": algorithm}))
        yield f"alg {algorithm!r}, no signature", f"{bare}.{body}."
        yield f"alg {algorithm!r}, any signature", f"{bare}.{body}.{sign}"
    public = ours.public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    der = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    modulus = public.public_numbers().n.to_bytes(256)
    for what, secret in {"PEM": pem, "DER": der, "modulus": modulus, "nothing": b""}.items():
        yield f"HS256 with the public key, {what}", keyed(secret, {**good, "alg": "HS256"})
        yield f"HMAC that says RS256, {what}", keyed(secret, good)
    for algorithm in ("ES256", "PS256", "RS384", "RS1", "rs256", "EdDSA"):
        yield f"a true signature, as {algorithm}", token(ours, head={**good, "alg": algorithm})
    yield "a stranger's key, our id", token(stranger, head=good)
    yield "a stranger's curve, our id", token(curve, head={**good, "alg": "ES256"})
    for extra in (
        {"jwk": jwk(stranger)},
        {"jku": "https://attacker/keys"},
        {"x5u": "https://attacker/chain"},
        {"x5c": [base64.b64encode(der).decode()]},
    ):
        yield f"a key in the header: {[*extra]}", token(stranger, head={**good, **extra})
    yield "what a reader must understand", token(ours, head={**good, "crit": ["exp"], "exp": 1})
    yield "an unencoded payload", token(ours, head={**good, "crit": ["b64"], "b64": False})
    twice = b'{"alg":"none","alg":"RS256","kid":"%b"}' % key_id(ours).encode()
    yield "alg twice", written(ours, twice, payload)
    yield "kid is no text", token(ours, head={**good, "kid": [key_id(ours)]})
    yield "kid is too long", token(ours, head={**good, "kid": "k" * 300})
    yield "alg is no text", token(ours, head={**good, "alg": ["RS256"]})
    yield "a header that is a list", written(ours, b'["RS256"]', payload)
    yield "a header that is no JSON", written(ours, b"alg=RS256", payload)
    yield "a deep header", written(ours, b'{"a":' * 120 + b"0" + b"}" * 120, payload)
    yield "a long header", token(ours, head={**good, "x": "x" * 2_000})
    yield "another payload", f"{head}.{b64(encoded(claims(node='n2')))}.{sign}"
    yield "the signature cut", f"{head}.{body}.{sign[:-4]}"
    yield "the signature lengthened", f"{head}.{body}.{sign}AAAA"
    yield "a signature of zeros", f"{head}.{body}.{b64(bytes(256))}"
    yield "padding", f"{head}.{body}.{sign}=="
    yield "four parts", f"{head}.{body}.{sign}.{sign}"
    yield "the other alphabet", f"{head}.{body}.{sign}".replace("-", "+").replace("_", "/") + "+"
    yield "bits that nothing uses", _same_bytes_otherwise(head, body, sign)


def _same_bytes_otherwise(head: str, body: str, sign: str) -> str:
    """256 bytes leave four bits of the last letter unused."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    other = sign[:-1] + alphabet[alphabet.index(sign[-1]) ^ 1]
    assert base64.urlsafe_b64decode(other + "==") == base64.urlsafe_b64decode(sign + "==")
    return f"{head}.{body}.{other}"


FORGED = dict(forged())


@pytest.mark.parametrize("what", FORGED)
async def test_a_forged_token_is_refused_and_nobody_is_asked_about_it(what: str) -> None:
    door = ProvenDoor(rsa_key())
    door.pods.add("n1")
    await door.ask(token(rsa_key()))
    asked = len(door.reviews.asked)
    assert await door.ask(FORGED[what]) is None
    assert len(door.reviews.asked) == asked
    assert door.issuer.asked == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://another-cluster"},
        {"aud": ["vault"]},
        {"aud": ["https://kubernetes.default.svc"]},
        {"exp": 1_000_000_000},
        {"nbf": 1_800_000_000},
        {"sub": "system:serviceaccount:shop:web"},
        {"sub": "system:node:n1"},
        {"kubernetes.io": {}},
    ],
)
async def test_a_true_token_that_is_not_for_us_or_not_for_now_opens_nothing(
    changed: dict[str, Any],
) -> None:
    door = ProvenDoor(rsa_key())
    door.pods.add("n1")
    assert await door.ask(token(rsa_key(), {**claims(), **changed})) is None


async def test_a_token_of_one_agent_does_not_speak_for_another_node() -> None:
    door = ProvenDoor(rsa_key())
    door.agent("victim")
    said = claims(node="attacker")
    door.pods.add("attacker")
    mixed = {**said["kubernetes.io"], "node": {"name": "victim", "uid": "uid-of-victim"}}
    assert await door.ask(token(rsa_key(), {**said, "kubernetes.io": mixed})) is None


async def test_a_payload_that_says_a_thing_twice_is_left_to_the_api_server() -> None:
    door = ProvenDoor(rsa_key())
    door.pods.add("n1")
    door.pods.add("n2")
    twice = encoded(claims())[:-1] + b',"sub":"%b"}' % AGENT.encode()
    assert await door.ask(written(rsa_key(), encoded(header(rsa_key())), twice)) is None
    assert door.how("reviewed") == 1


async def test_the_twin_of_an_ecdsa_signature_is_the_same_agent_and_costs_one_place_more() -> None:
    """(r, n - s) is as good a signature as (r, s): it is no new token, and there is no third one."""
    door = ProvenDoor(ec_key())
    sent = door.agent()
    head, body, sign = sent.split(".")
    raw = base64.urlsafe_b64decode(sign + "==")
    twin = raw[:32] + (P256 - int.from_bytes(raw[32:])).to_bytes(32)
    other = f"{head}.{body}.{b64(twin)}"
    door.reviews.knows(other, AGENT, node="n1")
    assert await door.ask(sent) == await door.ask(other) == Caller("agent", "n1")
    for s in (0, P256, P256 + 1, 2**256 - 1):
        wrong = f"{head}.{body}.{b64(raw[:32] + s.to_bytes(32))}"
        assert await door.ask(wrong) is None


async def test_der_in_the_place_of_a_raw_signature_is_refused() -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    door = ProvenDoor(ec_key())
    head, body, _ = door.agent().split(".")
    signed = f"{head}.{body}"
    der = ec_key().sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    assert await door.ask(f"{signed}.{b64(der)}") is None
    assert len(signature(ec_key(), b"")) == 64


@pytest.mark.parametrize("size", [LONGEST_TOKEN, LONGEST_TOKEN + 1, 1 << 20])
async def test_a_huge_token_is_not_looked_at(size: int) -> None:
    door = ProvenDoor(rsa_key())
    said = encoded({**claims(), "x": "x" * size})
    assert await door.ask(written(rsa_key(), encoded(header(rsa_key())), said)) is None
    assert door.issuer.asked == 0


async def test_ten_thousand_made_up_tokens_cost_the_api_server_one_question_and_lock_nobody_out() -> (
    None
):
    door = ProvenDoor(ec_key())
    sent = door.agent()
    _, body, sign = sent.split(".")
    for each in range(10_000):
        head = b64(encoded({"alg": "ES256", "kid": f"made up {each}"}))
        with contextlib.suppress(UnknownNowError):
            assert await door.ask(f"{head}.{body}.{sign}") is None
    assert (door.issuer.asked, len(door.reviews.asked)) == (1, 0)
    # Now with the id that is there: each costs a look at its signature.
    head = b64(encoded(header(ec_key())))
    for each in range(200):
        assert await door.ask(f"{head}.{body}.{b64(each.to_bytes(64))}") is None
    assert await door.ask(sent) == Caller("agent", "n1")
    assert door.how("forged") == 201
    assert len(door.callers._known) == 1
    assert MOST_CALLERS >= REVIEWS_AT_ONCE


async def test_ids_of_keys_that_are_not_there_delay_no_rotation_of_keys() -> None:
    door = ProvenDoor(rsa_key())
    await door.ask(door.agent())
    door.issuer.keys.insert(0, ec_key())
    new = door.agent("n2")
    for each in range(3):
        with pytest.raises(UnknownNowError):
            await door.ask(token(ec_key(), head={"alg": "ES256", "kid": f"{each}"}))
    await door.clock.advance(AGAIN_S)
    assert await door.ask(token(ec_key(), head={"alg": "ES256", "kid": "again"})) is None
    assert await door.ask(new) == Caller("agent", "n2")


async def test_a_forged_token_of_admission_is_not_reviewed_either() -> None:
    door = ProvenDoor(rsa_key())
    stranger = token(rsa_key("stranger"), claims(sub=ADMISSION), head=header(rsa_key()))
    assert await door.ask(stranger) is None
    assert door.reviews.asked == []
    assert door.meter.value(names.CALLERS, result="refused") == 1


@settings(max_examples=100)
@given(st.data())
async def test_no_changed_byte_of_a_true_token_gets_in(data: st.DataObject) -> None:
    door = ProvenDoor(ec_key())
    sent = door.agent()
    at = data.draw(st.integers(0, len(sent) - 1))
    letter = data.draw(st.characters(min_codepoint=0x21, max_codepoint=0x7E))
    changed = sent[:at] + letter + sent[at + 1 :]
    if changed == sent:
        return
    with contextlib.suppress(UnknownNowError):
        assert await door.ask(changed) is None
    assert number(P256, 32)
