"""Asks the API server who somebody is, and what they may do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from nemutator_common.secret import Secret

from nemutator_controller.kube import calls
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS, Resource
from nemutator_controller.kube.reviews import (
    AccessVerdict,
    PublishedKeys,
    TokenVerdict,
    User,
    Wish,
)

S = TypeVar("S")

_DISCOVERY = "/.well-known/openid-configuration"
_KEYS = "/openid/v1/jwks"
_KEYS_TYPE = "application/jwk-set+json, application/json;q=0.5"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Reviews change nothing, so they need no budget. Without an answer nobody is believed."""

    transport: Transport

    async def token(self, token: Secret, audiences: Sequence[str] = ()) -> TokenVerdict:
        """Who *token* belongs to, if it is good and meant for one of *audiences*."""
        spec = {"token": token.reveal(), "audiences": list(audiences)}
        return await self._review(TOKEN_REVIEWS, spec, TokenVerdict)

    async def access(self, user: User, wish: Wish) -> AccessVerdict:
        """Whether *user* may do what they *wish*, by all authorizers of the server."""
        attributes = {
            "verb": wish.verb,
            "group": wish.resource.group,
            "version": wish.resource.version,
            "resource": wish.resource.plural,
            "subresource": wish.subresource,
            "namespace": wish.namespace,
        }
        spec = {
            "user": user.username,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
            "resourceAttributes": {name: value for name, value in attributes.items() if value},
        }
        return await self._review(SUBJECT_ACCESS_REVIEWS, spec, AccessVerdict)

    async def signing_keys(self) -> PublishedKeys:
        """What tokens of this cluster are signed with. The server itself is asked, wherever its
        documents say that the keys are."""
        return PublishedKeys(
            discovery=await self.transport.send(calls.page(_DISCOVERY)),
            keys=await self.transport.send(calls.page(_KEYS, accept=_KEYS_TYPE)),
        )

    async def _review(self, resource: Resource[Any], spec: object, shape: type[S]) -> S:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "spec": spec}
        call = calls.creating(resource, "", msgspec.json.encode(body))
        answer = await self.transport.send(call)
        try:
            return msgspec.convert(msgspec.json.decode(answer)["status"], shape)
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise UnavailableError(call.asked, f"the answer has no verdict: {error}") from error
