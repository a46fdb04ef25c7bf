"""Rights as roles give them, and as the API server's audit log shows that they were used. Values in, values out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]
ACCOUNT = "system:serviceaccount:"


class Right(NamedTuple):
    account: str
    """The name of the service account, in whichever namespace."""
    verb: str
    resource: str
    """`pods/resize`, `leases.coordination.k8s.io`, or a path that is no resource's."""


def given_by(documents: Iterable[Json]) -> Iterator[Right]:
    """What the roles among *documents* give to service accounts, by their bindings."""
    listed = list(documents)
    roles = {(one["kind"], one["metadata"]["name"]): one for one in listed if "rules" in one}
    for binding in listed:
        if "roleRef" not in binding:
            continue
        role = roles[binding["roleRef"]["kind"], binding["roleRef"]["name"]]
        for subject in binding["subjects"]:
            for rule in role["rules"]:
                yield from (Right(subject["name"], *one) for one in of_rule(rule))


def of_rule(rule: Json) -> Iterator[tuple[str, str]]:
    for verb in rule["verbs"]:
        yield from ((verb, path) for path in rule.get("nonResourceURLs", ()))
        for group in rule.get("apiGroups", ()):
            yield from ((verb, named(group, *one.split("/"))) for one in rule["resources"])


def named(group: str, plural: str, subresource: str = "") -> str:
    whole = f"{plural}.{group}" if group else plural
    return f"{whole}/{subresource}" if subresource else whole


def right_in(event: Json) -> Right | None:
    """What a service account has asked for in *event*; None where somebody else has."""
    user = event["user"].get("username", "")
    if not user.startswith(ACCOUNT):
        return None
    about = event.get("objectRef")
    resource = (
        named(about.get("apiGroup", ""), about["resource"], about.get("subresource", ""))
        if about and "resource" in about
        else event["requestURI"].partition("?")[0]
    )
    return Right(user.rpartition(":")[2], event["verb"], resource)


def is_refused(event: Json) -> bool:
    return bool(event.get("responseStatus", {}).get("code") == 403)
