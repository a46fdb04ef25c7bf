"""One request, from its path to its answer, without a transport.

`Api.handle` is all of the server but HTTP: the server puts it on the wire, and a property test that
runs thousands of cases calls it directly.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fakes.kube import kinds, paths
from tests.fakes.kube.admission import Webhooks
from tests.fakes.kube.authorization import Access, Attributes, User
from tests.fakes.kube.controls import Controls
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.listing import list_objects
from tests.fakes.kube.ownership import apply
from tests.fakes.kube.patching import PatchError, json_patch, merge_patch, operations_of
from tests.fakes.kube.paths import Target
from tests.fakes.kube.selection import View, selection, view
from tests.fakes.kube.statuses import (
    ApiError,
    bad_request,
    conflict,
    method_not_allowed,
    not_found,
    too_old,
    unknown_media_type,
    unsupported_media_type,
)
from tests.fakes.kube.store import Store
from tests.fakes.kube.validating import check_deletion, check_options
from tests.fakes.kube.watching import Watch, open_watch
from tests.fakes.kube.writing import Write, Writer

Json = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

OBJECT_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
"""What the real one reads; this one reads the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""
    content_type: str = ""
    authorization: str = ""
    certificate: User | None = None
    user_agent: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Json
    warnings: tuple[str, ...] = ()


class Api:
    def __init__(self, *, watch_list: bool = True, bookmark_s: float = 60.0) -> None:
        self.store = Store()
        self.access = Access()
        self.webhooks = Webhooks(self.store)
        self.controls = Controls(self.store)
        self._writer = Writer(self.store, self.webhooks)
        self._watch_list = watch_list
        self._bookmark_s = bookmark_s
        self.seed()

    def seed(self) -> None:
        for name in ("default", "kube-node-lease", "kube-public", "kube-system"):
            labels = {"kubernetes.io/metadata.name": name}
            namespace = {
                "metadata": {"name": name, "labels": labels},
                "status": {"phase": "Active"},
            }
            self.store.put(kinds.NAMESPACES, namespace)

    def kinds(self) -> list[Kind]:
        definitions = self.store.all(kinds.DEFINITIONS)
        custom = [kind for definition in definitions for kind in kinds.defined_by(definition)]
        return [*kinds.BUILT_IN, *custom]

    async def handle(self, request: Request) -> Answer | Watch:
        """The answer, or a watch whose `lines()` are the answer; raises `ApiError`."""
        target = paths.parse(request.path)
        verb = _verb(request, target)
        resource = request.path if target.is_page else target.resource
        self.controls.requests[f"{verb} {resource}"] += 1
        self.controls.check_faults(verb)
        user = self.access.authenticate(request.authorization, request.certificate)
        if target.is_page:
            self.access.authorize_page(user, verb, request.path)
            return Answer(200, paths.discovery(request.path, self.kinds()))
        wanted = Attributes(
            verb=verb,
            group=target.group,
            resource=target.resource,
            namespace=target.namespace,
            name=target.name,
        )
        self.access.authorize(user, wanted)
        kind = paths.kind_of(target, self.kinds())
        if not _allows(kind, target, verb):
            raise method_not_allowed()
        if not kind.namespaced:
            # A namespace lies in itself for who grants rights, and nowhere for who keeps it.
            target = replace(target, namespace="")
        if verb in ("get", "list", "watch"):
            return self._read(request, target, kind, verb)
        return await self._write(request, target, kind, verb, user)

    def _read(self, request: Request, target: Target, kind: Kind, verb: str) -> Answer | Watch:
        shown = view(request.accept)
        if verb == "get":
            manifest = self.store.get(kind, target.namespace, target.name)
            if manifest is None:
                raise not_found(kind, target.name)
            return Answer(200, shown.of(kind, manifest))
        chosen = selection(kind, target.namespace, request.query)
        if verb == "list":
            return Answer(200, list_objects(self.store, kind, chosen, shown, request.query))
        watch = open_watch(
            self.store,
            kind,
            chosen,
            shown,
            request.query,
            bookmark_s=self._bookmark_s,
            watch_list=self._watch_list,
        )
        if self.controls.gone_as_status and watch.version < self.store.oldest(kind):
            raise too_old(watch.version, self.store.version)
        return watch

    async def _write(
        self, request: Request, target: Target, kind: Kind, verb: str, user: User
    ) -> Answer:
        _check_media_type(request, verb)
        shown, write = view(request.accept), _write_of(request, target, kind, user, verb)
        if verb == "create":
            return await self._create(request, target, write, shown)
        if verb == "update":
            manifest = await self._writer.update(write, _object(kind, request.body))
            return _written(200, shown, write, manifest)
        if verb == "patch":
            return await self._patch(request, write, shown)
        options = _options(request)
        check_deletion(options)
        write = replace(write, dry_run=bool(options.get("dryRun")))
        if verb == "delete":
            manifest = await self._writer.delete(write, options)
            return Answer(200, manifest, tuple(write.warnings))
        return await self._delete_all(request, kind, write, options)

    async def _create(self, request: Request, target: Target, write: Write, shown: View) -> Answer:
        body = _object(kinds.EVICTIONS if target.subresource else write.kind, request.body)
        if target.subresource == "eviction":
            delete = Write(
                kind=write.kind,
                namespace=write.namespace,
                name=write.name,
                dry_run=write.dry_run,
                evicted=True,
            )
            options = body.get("deleteOptions") or {}
            done = await self._writer.evict(
                write, body, lambda: self._writer.delete(delete, options)
            )
            return Answer(201, done, tuple(write.warnings))
        if write.kind == kinds.TOKEN_REVIEWS:
            return Answer(201, self.access.review_token(body))
        if write.kind == kinds.ACCESS_REVIEWS:
            return Answer(201, self.access.review_access(body))
        return _written(201, shown, write, await self._writer.create(write, body))

    async def _patch(self, request: Request, write: Write, shown: View) -> Answer:
        if request.content_type == STRATEGIC_PATCH:
            # As the real one says of custom kinds; without schemas it holds for all.
            raise unsupported_media_type(JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
        patch = _patch_of(request)
        if request.content_type == APPLY_PATCH:
            return await self._apply(request, write, shown, patch)
        change = json_patch if request.content_type == JSON_PATCH else merge_patch

        def changed(old: Json) -> Json:
            try:
                new = change(old, patch)
            except PatchError as error:
                # The server says no more about a failed `test` or a missing path, either.
                why = "the server rejected our request due to an error in our request"
                raise ApiError(422, "Invalid", why, details={}) from error
            if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
                raise bad_request("the patch leaves no object")
            return new

        return _written(200, shown, write, await self._writer.change(write, changed))

    async def _apply(self, request: Request, write: Write, shown: View, wanted: Json) -> Answer:
        said = (wanted.get("apiVersion", ""), wanted.get("kind", ""))
        if said != (write.kind.api_version, write.kind.kind):
            group, _, version = said[0].rpartition("/")
            raise bad_request(f"invalid object type: {group}/{version}, Kind={said[1]}")
        if (wanted.get("metadata") or {}).get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")

        def merged(live: Json | None) -> Json:
            return apply(
                write.kind,
                live,
                wanted,
                manager=write.manager,
                subresource=write.subresource,
                force=request.query.get("force") in ("true", "1"),
            )

        if self.store.get(write.kind, write.namespace, write.name) is None:
            if write.subresource:
                raise not_found(write.kind, write.name)
            new = merged(None)
            metadata = new["metadata"]
            metadata.setdefault("name", write.name)
            if uid := metadata.get("uid"):
                why = (
                    f"uid mismatch: the provided object specified uid {uid}, and no existing object"
                    " was found"
                )
                raise conflict(write.kind, write.name, why)
            # Not a condition here: what is not there is made, whatever version was expected.
            metadata.pop("resourceVersion", None)
            return _written(201, shown, write, await self._writer.create(write, new))
        return _written(200, shown, write, await self._writer.change(write, merged))

    async def _delete_all(
        self, request: Request, kind: Kind, write: Write, options: Json
    ) -> Answer:
        chosen = selection(kind, write.namespace, request.query)
        gone = [manifest for manifest in self.store.all(kind) if chosen.takes(manifest)]
        for manifest in gone:
            metadata = manifest["metadata"]
            one = Write(
                kind=kind,
                namespace=metadata.get("namespace", ""),
                name=metadata["name"],
                dry_run=write.dry_run,
                collected=True,
            )
            await self._writer.delete(one, options)
        version = {"resourceVersion": str(self.store.version)}
        return Answer(200, View().list_of(kind, version, gone))


def _verb(request: Request, target: Target) -> str:
    """As the method alone says it, which is what rights are asked for."""
    if target.is_page:
        return request.method.lower()
    named = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    verb = named.get(request.method, request.method.lower())
    if target.name:
        return verb
    if verb == "delete":
        return "deletecollection"
    watched = request.query.get("watch") in ("true", "1")
    return ("watch" if watched else "list") if verb == "get" else verb


def _allows(kind: Kind, target: Target, verb: str) -> bool:
    if target.subresource == "eviction" or kind.create_only:
        return verb == "create"
    if target.subresource:
        return verb in ("get", "update", "patch")
    if target.name:
        return verb in ("get", "update", "patch", "delete")
    return verb in ("list", "watch", "create", "deletecollection")


def _check_media_type(request: Request, verb: str) -> None:
    given = request.content_type
    if verb == "patch":
        if given not in (JSON_PATCH, MERGE_PATCH, APPLY_PATCH, STRATEGIC_PATCH):
            raise unknown_media_type()
    elif request.body and given not in ("", *OBJECT_TYPES):
        raise unsupported_media_type(*OBJECT_TYPES)


def _write_of(request: Request, target: Target, kind: Kind, user: User, verb: str) -> Write:
    options = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}
    applied = request.content_type == APPLY_PATCH
    if verb in options:
        check_options(options[verb], request.query, applied=applied)
    return Write(
        kind=kind,
        namespace=target.namespace,
        name=target.name,
        subresource=target.subresource,
        user=user.name,
        groups=user.groups,
        # Without a name of its own, the first part of the user agent is the manager.
        manager=request.query.get("fieldManager") or request.user_agent.split("/")[0] or "unknown",
        dry_run=bool(request.query.get("dryRun")),
        applied=applied,
    )


def _object(kind: Kind, body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise _unrecognized(
            kind, f"couldn't get version/kind; json parse error: {error}"
        ) from error
    if not isinstance(value, dict):
        raise _unrecognized(kind, "couldn't get version/kind; json parse error: no object")
    if kind.custom and "kind" not in value:
        raise _unrecognized(kind, f"Object 'Kind' is missing in '{body.decode()}'")
    return value


def _unrecognized(kind: Kind, why: str) -> ApiError:
    return bad_request(f"the object provided is unrecognized (must be of type {kind.kind}): {why}")


def _options(request: Request) -> Json:
    """DeleteOptions: the body when there is one, and then nothing of the query."""
    if not request.body:
        query = request.query
        grace = {name: int(query[name]) for name in ("gracePeriodSeconds",) if name in query}
        return {**grace, **({"dryRun": [query["dryRun"]]} if "dryRun" in query else {})}
    try:
        options: Json = json.loads(request.body)
    except ValueError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error
    return options


def _patch_of(request: Request) -> Any:
    what = "YAML" if request.content_type == APPLY_PATCH else "patch"
    try:
        read = operations_of if request.content_type == JSON_PATCH else json.loads
        patch = read(request.body)
    except ValueError as error:
        raise bad_request(f"error decoding {what}: {error}") from error
    type_ = list if request.content_type == JSON_PATCH else dict
    if not isinstance(patch, type_):
        raise bad_request(
            f"error decoding {what}: json: cannot unmarshal it into a {type_.__name__}"
        )
    return patch


def _written(status: int, shown: View, write: Write, manifest: Json) -> Answer:
    return Answer(status, shown.of(write.kind, manifest), tuple(write.warnings))
