"""What the API server publishes of how it signs tokens, and that its tokens are signed so."""

import json

import pytest
from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_controller.access.signed_tokens import unproven
from nemutator_controller.access.signing_keys import key_set
from nemutator_controller.kube.reviewing import Reviewer
from nemutator_controller.kube.transport import HttpTransport

from tests.contract.kube.places import Place, access, user
from tests.fakes.issuers import rsa_key, token
from tests.fakes.kube.configurations import Fixed
from tests.fakes.meters import MemoryMeter


async def test_a_token_is_signed_with_a_key_that_every_service_account_may_read(
    place: Place,
) -> None:
    reader = await place.somebody("reader")
    async with HttpTransport(Fixed(access(place, reader)), MemoryMeter()) as transport:
        published = await Reviewer(transport).signing_keys()
    keys = key_set(published.discovery, published.keys)
    assert keys.keys
    assert not keys.unreadable
    for audience in (str(BRAIN_AUDIENCE), "vault"):
        await place.somebody(f"for-{len(audience)}")
        sent = unproven(await place.token_for(f"for-{len(audience)}", audience))
        assert sent is not None
        assert sent.is_signed_by(keys.keys[sent.key_id])
        said = json.loads(sent.payload)
        assert said["iss"] == keys.issuer
        assert said["sub"] == user(place, f"for-{len(audience)}")
        assert said["aud"] == [audience]
        assert said["nbf"] <= said["iat"] < said["exp"]


@pytest.mark.parametrize("bits", [2048, 3072])
async def test_a_strangers_token_is_signed_with_none_of_them(place: Place, bits: int) -> None:
    reader = await place.somebody("reader")
    async with HttpTransport(Fixed(access(place, reader)), MemoryMeter()) as transport:
        published = await Reviewer(transport).signing_keys()
    stranger = rsa_key("nobody of this cluster", bits=bits)
    sent = unproven(token(stranger))
    assert sent is not None
    for key in key_set(published.discovery, published.keys).keys.values():
        assert not sent.is_signed_by(key)
