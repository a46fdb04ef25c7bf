import json

import pytest
from nemutator_common.secret import Secret
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.reviewing import Reviewer
from nemutator_controller.kube.reviews import User, Wish

from tests.fakes.scripted_kube import ScriptedTransport


async def test_a_token_is_somebodys() -> None:
    status = {"authenticated": True, "user": {"username": "jane", "groups": ["dev"]}}
    transport = ScriptedTransport(json.dumps({"status": status}).encode())
    verdict = await Reviewer(transport).token(Secret("t0ken"), ["vault"])
    assert verdict.authenticated
    assert verdict.user.groups == ("dev",)
    sent = json.loads(transport.calls[0].body)["spec"]
    assert sent == {"token": "t0ken", "audiences": ["vault"]}


async def test_an_access_review_asks_for_one_wish() -> None:
    transport = ScriptedTransport(b'{"status":{"allowed":false,"reason":"no"}}')
    wish = Wish(verb="get", resource=PODS, namespace="team")
    verdict = await Reviewer(transport).access(User(username="jane"), wish)
    assert not verdict.allowed
    sent = json.loads(transport.calls[0].body)["spec"]["resourceAttributes"]
    assert sent == {"verb": "get", "version": "v1", "resource": "pods", "namespace": "team"}


async def test_signing_keys_are_read_from_the_server_itself() -> None:
    transport = ScriptedTransport(b'{"issuer":"i","jwks_uri":"https://elsewhere/keys"}', b"keys")
    published = await Reviewer(transport).signing_keys()
    assert published.discovery.startswith(b'{"issuer"')
    assert published.keys == b"keys"
    asked = [(call.verb, call.path) for call in transport.calls]
    assert asked == [("get", "/.well-known/openid-configuration"), ("get", "/openid/v1/jwks")]
    # The server answers 406 to whoever takes nothing but plain JSON.
    assert "application/jwk-set+json" in transport.calls[1].accept


@pytest.mark.parametrize("answer", [b"{}", b"[]", b"x", b'{"status":{"allowed":"yes"}}'])
async def test_nobody_is_believed_without_a_verdict(answer: bytes) -> None:
    reviewer = Reviewer(ScriptedTransport(answer))
    with pytest.raises(UnavailableError):
        await reviewer.access(User(), Wish(verb="get", resource=PODS))
