"""One request, from its path to its answer, without a transport.

`Api.handle` is all of the server but HTTP: the server puts it on the wire, and a property test that
runs thousands of cases calls it directly.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kube import kinds, paths
from tests.fakes.kube.admission import Webhooks
from tests.fakes.kube.authorization import Access, Attributes, User
from tests.fakes.kube.controls import Controls
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.listing import list_objects
from tests.fakes.kube.ownership import apply
from tests.fakes.kube.patching import PatchError, json_patch, merge_patch
from tests.fakes.kube.paths import Target
from tests.fakes.kube.selection import View, selection, view
from tests.fakes.kube.statuses import (
    ApiError,
    bad_request,
    invalid,
    method_not_allowed,
    not_found,
    too_old,
    unsupported_media_type,
)
from tests.fakes.kube.store import Store
from tests.fakes.kube.watching import Watch, open_watch
from tests.fakes.kube.writing import Write, Writer

Json = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


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
        target = paths.parse(request.path, self.kinds())
        verb = _verb(request, target)
        resource = target.resource if target.kind else request.path
        self.controls.requests[f"{verb} {resource}"] += 1
        self.controls.check_faults(verb)
        user = self.access.authenticate(request.authorization, request.certificate)
        if target.kind is None:
            return Answer(200, paths.discovery(request.path, self.kinds()))
        kind = target.kind
        wanted = Attributes(
            verb=verb,
            group=kind.group,
            resource=target.resource,
            namespace=target.namespace,
            name=target.name,
        )
        self.access.authorize(user, kind, wanted)
        if verb in ("get", "list", "watch"):
            return self._read(request, target, kind, verb)
        return await self._write(request, target, kind, verb, user)

    def _read(self, request: Request, target: Target, kind: Kind, verb: str) -> Answer | Watch:
        shown = view(request.accept)
        if verb == "get":
            thing = self.store.get(kind, target.namespace, target.name)
            if thing is None:
                raise not_found(kind, target.name)
            return Answer(200, shown.of(kind, thing))
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
        shown, write = view(request.accept), _write_of(request, target, kind, user)
        if verb == "create":
            return await self._create(request, target, write, shown)
        if verb == "update":
            thing = await self._writer.update(write, _json(request.body))
            return _written(200, shown, write, thing)
        if verb == "patch":
            return await self._patch(request, write, shown)
        options = _json(request.body) if request.body else {}
        if "gracePeriodSeconds" in request.query:
            options["gracePeriodSeconds"] = int(request.query["gracePeriodSeconds"])
        if verb == "delete":
            thing = await self._writer.delete(write, options)
            return Answer(200, thing, tuple(write.warnings))
        return await self._delete_all(request, kind, write, options)

    async def _create(self, request: Request, target: Target, write: Write, shown: View) -> Answer:
        body = _json(request.body)
        if target.subresource == "eviction":
            delete = Write(
                kind=write.kind, namespace=write.namespace, name=write.name, dry_run=write.dry_run
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
        patch: Any = _json(request.body, objects_only=False)
        if request.content_type == APPLY_PATCH:
            return await self._apply(request, write, shown, patch)
        if request.content_type not in (JSON_PATCH, MERGE_PATCH):
            raise unsupported_media_type(JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
        change = json_patch if request.content_type == JSON_PATCH else merge_patch

        def changed(old: Json) -> Json:
            try:
                new = change(old, patch)
            except PatchError as error:
                # The server says no more about a failed `test` or a missing path, either.
                why = "the server rejected our request due to an error in our request"
                raise ApiError(422, "Invalid", why) from error
            if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
                raise bad_request("the patch leaves no object")
            if new["metadata"].get("name") != old["metadata"]["name"]:
                cause = ("FieldValueInvalid", "metadata.name", "Invalid value: field is immutable")
                raise invalid(write.kind, write.name, cause)
            return new

        return _written(200, shown, write, await self._writer.change(write, changed))

    async def _apply(self, request: Request, write: Write, shown: View, wanted: Json) -> Answer:
        if "fieldManager" not in request.query:
            text = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
            raise ApiError(422, "Invalid", text)
        if (
            wanted.get("apiVersion") != write.kind.api_version
            or wanted.get("kind") != write.kind.kind
        ):
            raise bad_request("the object provided must have the apiVersion and kind of its path")
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
            new["metadata"].setdefault("name", write.name)
            return _written(201, shown, write, await self._writer.create(write, new))
        return _written(200, shown, write, await self._writer.change(write, merged))

    async def _delete_all(
        self, request: Request, kind: Kind, write: Write, options: Json
    ) -> Answer:
        chosen = selection(kind, write.namespace, request.query)
        gone = [thing for thing in self.store.all(kind) if chosen.takes(thing)]
        for thing in gone:
            metadata = thing["metadata"]
            one = Write(
                kind=kind,
                namespace=metadata.get("namespace", ""),
                name=metadata["name"],
                dry_run=write.dry_run,
            )
            await self._writer.delete(one, options)
        version = {"resourceVersion": str(self.store.version)}
        return Answer(200, View().list_of(kind, version, gone))


def _verb(request: Request, target: Target) -> str:
    if target.kind is None:
        return request.method.lower()
    verbs = (
        {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        if target.name
        else {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
    )
    if target.subresource == "eviction":
        verbs = {"POST": "create"}
    if target.subresource == "status":
        verbs.pop("DELETE", None)
    if target.kind.create_only:
        verbs = {"POST": "create"}
    verb = verbs.get(request.method)
    if verb is None:
        raise method_not_allowed()
    watched = verb == "list" and request.query.get("watch") in ("true", "1")
    return "watch" if watched else verb


def _write_of(request: Request, target: Target, kind: Kind, user: User) -> Write:
    dry_run = request.query.get("dryRun", "")
    if dry_run not in ("", "All"):
        text = f'Invalid value: ["{dry_run}"]: dryRun: Unsupported value: supported values: "All"'
        raise ApiError(422, "Invalid", text)
    return Write(
        kind=kind,
        namespace=target.namespace,
        name=target.name,
        subresource=target.subresource,
        user=user.name,
        groups=user.groups,
        # Without a name of its own, the first part of the user agent is the manager.
        manager=request.query.get("fieldManager") or request.user_agent.split("/")[0] or "unknown",
        dry_run=bool(dry_run),
        applied=request.content_type == APPLY_PATCH,
    )


def _json(body: bytes, *, objects_only: bool = True) -> Any:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error
    if objects_only and not isinstance(value, dict):
        raise bad_request("the object provided is unrecognized (must be of type object)")
    return value


def _written(status: int, shown: View, write: Write, thing: Json) -> Answer:
    return Answer(status, shown.of(write.kind, thing), tuple(write.warnings))
