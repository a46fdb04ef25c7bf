"""LIST: snapshots, pages and what `resourceVersion` means.

The rules are the table "semantics for list" of the Kubernetes API concepts page.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.selection import NotAVersionError, Selection, View, version_of
from tests.fakes.kube.statuses import (
    ApiError,
    bad_request,
    continue_expired,
    invalid_options,
    too_large,
)
from tests.fakes.kube.store import Key, Store, key_of

Json = dict[str, Any]


def list_objects(
    store: Store, kind: Kind, chosen: Selection, shown: View, query: Mapping[str, str]
) -> Json:
    if "sendInitialEvents" in query:
        raise _forbidden_option("sendInitialEvents", "sendInitialEvents is forbidden for list")
    limit = _limit(query)
    try:
        start, version = _point(store, kind, query, limit)
    except NotAVersionError as error:
        raise bad_request(f"invalid resource version: {error}") from error
    manifests = store.at(kind, version) if version < store.version else store.all(kind)
    found = [
        manifest for manifest in manifests if chosen.takes(manifest) and key_of(manifest) >= start
    ]
    metadata: Json = {"resourceVersion": str(version)}
    # The watch cache answers version 0, and it does not page.
    if limit and query.get("resourceVersion") != "0" and len(found) > limit:
        rest = len(found) - limit
        metadata["continue"] = _token(version, key_of(found[limit]))
        if not chosen.selective:
            metadata["remainingItemCount"] = rest
        found = found[:limit]
    return shown.list_of(kind, metadata, found)


def _point(store: Store, kind: Kind, query: Mapping[str, str], limit: int) -> tuple[Key, int]:
    """Where in the order, and in time, the list is to be taken."""
    wanted, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    if token := query.get("continue", ""):
        if match:
            raise _forbidden_option(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden when continue is provided",
            )
        if wanted not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        version, start = _read(token)
        if version == -1:
            return start, store.version
        if version < store.oldest(kind):
            raise continue_expired(_token(-1, start))
        return start, version
    if match and not wanted:
        raise _forbidden_option(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        )
    if match not in ("", "Exact", "NotOlderThan"):
        why = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        raise invalid_options(
            "ListOptions", ("FieldValueNotSupported", "resourceVersionMatch", why)
        )
    version = version_of(wanted or "0")
    if match == "Exact" and version == 0:
        raise _forbidden_option(
            "resourceVersionMatch",
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        )
    if version > store.version:
        raise too_large(version, store.version)
    exact = match == "Exact" or (limit and not match and version)
    if not exact:
        return ("", ""), store.version
    if version < store.oldest(kind):
        raise ApiError(410, "Expired", "The resourceVersion for the provided list is too old.")
    return ("", ""), version


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit") or "0"
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error


def _forbidden_option(field: str, why: str) -> ApiError:
    return invalid_options("ListOptions", ("FieldValueForbidden", field, f"Forbidden: {why}"))


def _token(version: int, start: Key) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": "/".join(start)})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(token: str) -> tuple[int, Key]:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        point = json.loads(text)
        namespace, _, name = point["start"].partition("/")
        return int(point["rv"]), (namespace, name)
    except (ValueError, KeyError, TypeError) as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from error
