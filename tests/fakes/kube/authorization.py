"""Who is calling, and what they may do: one table behind requests and reviews alike."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kube import kinds
from tests.fakes.kube.statuses import (
    ApiError,
    Cause,
    bad_request,
    forbidden,
    forbidden_page,
    invalid_named,
    unauthorized,
)

Json = dict[str, Any]

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"

OURS = "https://kubernetes.default.svc"
"""The audience of the server itself: tokens for others do not get in."""

PUBLIC = frozenset({"healthz", "livez", "readyz", "version"})
DISCOVERY = frozenset({"api", "apis", "openapi"})
ISSUING = frozenset({".well-known", "openid"})
"""First parts of the pages that everybody may read, that everybody known may, and service accounts."""


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = (AUTHENTICATED,)
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What else its token proves: the pod's node, among others."""


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What somebody wants to do. *resource* has its subresource: `pods/eviction`."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`*` in verbs, groups and resources means any; an empty namespace means all of them."""

    user: str
    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    namespace: str

    def covers(self, user: User, wanted: Attributes) -> bool:
        return (
            self.user == user.name
            and not {"*", wanted.verb}.isdisjoint(self.verbs)
            and not {"*", wanted.group}.isdisjoint(self.groups)
            and not {"*", wanted.resource}.isdisjoint(self.resources)
            and self.namespace in ("", wanted.namespace)
        )


class Access:
    """Tokens and rules; members of `system:masters` may do everything."""

    def __init__(self) -> None:
        self._tokens: dict[str, User] = {}
        self._audiences: dict[str, frozenset[str]] = {}
        self._rules: list[Rule] = []

    def add_token(
        self,
        user: str,
        *groups: str,
        token: str = "",
        audiences: tuple[str, ...] = (OURS,),
        extra: Mapping[str, Sequence[str]] | None = None,
    ) -> str:
        """Make *token*, or a new one, prove to be *user* to these *audiences*."""
        token = token or f"token-{uuid.uuid4().hex}"
        uid = str(uuid.uuid5(uuid.NAMESPACE_URL, user))
        self._tokens[token] = User(user, (*groups, AUTHENTICATED), uid, extra or {})
        self._audiences[token] = frozenset(audiences)
        return token

    def remove_token(self, token: str) -> None:
        del self._tokens[token]

    def allow(
        self, user: str, verbs: str, resources: str, *, group: str = "", namespace: str = ""
    ) -> None:
        """Let *user* do *verbs* (words) to *resources* (words, `pods/status` for a subresource)."""
        rule = Rule(
            user=user,
            verbs=frozenset(verbs.split()),
            groups=frozenset({group}),
            resources=frozenset(resources.split()),
            namespace=namespace,
        )
        self._rules.append(rule)

    def revoke(self, user: str) -> None:
        self._rules = [rule for rule in self._rules if rule.user != user]

    def authenticate(self, authorization: str, certificate: User | None) -> User:
        """The caller; without any credentials it is nobody in particular, as by default there."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer":
            user = self._tokens.get(token.strip())
            if user is None or OURS not in self._audiences[token.strip()]:
                raise unauthorized()
            return user
        return certificate or ANONYMOUS

    def may(self, user: User, wanted: Attributes) -> bool:
        return MASTERS in user.groups or any(rule.covers(user, wanted) for rule in self._rules)

    def authorize(self, user: User, wanted: Attributes) -> None:
        if not self.may(user, wanted):
            raise refused(user, wanted)

    def authorize_page(self, user: User, verb: str, path: str) -> None:
        """As `system:discovery` and `system:public-info-viewer` let them look."""
        first = path.strip("/").partition("/")[0]
        # `system:service-account-issuer-discovery`, which all service accounts have.
        issuing = first in ISSUING and user.name.startswith("system:serviceaccount:")
        allowed = (
            issuing or first in PUBLIC or (AUTHENTICATED in user.groups and first in DISCOVERY)
        )
        if MASTERS not in user.groups and not (verb == "get" and allowed):
            raise forbidden_page(f'User "{user.name}" cannot {verb} path "{path}"')

    def review_token(self, body: Json) -> Json:
        spec = body.get("spec") or {}
        if not spec.get("token"):
            raise bad_request("token is required for TokenReview in authentication")
        user = self._tokens.get(spec["token"])
        wanted = spec.get("audiences") or [OURS]
        meant = [name for name in wanted if name in self._audiences.get(spec["token"], ())]
        if user is None or not meant:
            status: Json = {"user": {}, "error": "invalid bearer token"}
        else:
            known: Json = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
            if user.extra:
                known["extra"] = {key: list(values) for key, values in user.extra.items()}
            status = {"authenticated": True, "user": known, "audiences": meant}
        return _reviewed(kinds.TOKEN_REVIEWS, body, status)

    def review_access(self, body: Json) -> Json:
        spec = body.get("spec") or {}
        _check_review(spec)
        asked = spec.get("resourceAttributes") or {}
        below = f"/{asked['subresource']}" if asked.get("subresource") else ""
        wanted = Attributes(
            verb=asked.get("verb", ""),
            group=asked.get("group", ""),
            resource=asked.get("resource", "") + below,
            namespace=asked.get("namespace", ""),
            name=asked.get("name", ""),
        )
        user = User(spec.get("user", ""), tuple(spec.get("groups") or ()))
        allowed = self.may(user, wanted)
        reason = {"reason": "RBAC: allowed"} if allowed else {}
        return _reviewed(kinds.ACCESS_REVIEWS, body, {"allowed": allowed, **reason})


def _reviewed(kind: kinds.Kind, body: Json, status: Json) -> Json:
    return {**body, "kind": kind.kind, "apiVersion": kind.api_version, "status": status}


def _check_review(spec: Json) -> None:
    causes: list[Cause] = []
    invalid = "FieldValueInvalid"
    attributes = ("resourceAttributes", "nonResourceAttributes")
    if sum(name in spec for name in attributes) != 1:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        causes.append((invalid, "spec.resourceAttributes", f"Invalid value: null: {why}"))
    if not spec.get("user") and not spec.get("groups"):
        why = "at least one of user or group must be specified"
        causes.append((invalid, "spec.user", f'Invalid value: "": {why}'))
    if causes:
        raise invalid_named(kinds.ACCESS_REVIEWS.group, "", "", *causes)


def refused(user: User, wanted: Attributes) -> ApiError:
    where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    why = (
        f'User "{user.name}" cannot {wanted.verb} resource "{wanted.resource}" in API group'
        f' "{wanted.group}" {where}'
    )
    return forbidden(wanted.group, wanted.resource.partition("/")[0], wanted.name, why)
