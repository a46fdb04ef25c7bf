"""Requests that an API server refuses or comments, as values: what is sent, by whom.

What the real server answers is recorded in `tests/golden/kube/statuses.json`; the fake must answer
the same. `{namespace}` is the namespace of the test, in which `prepared.py` has put some objects.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

Json = dict[str, Any]

JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
PATCH: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"
STRATEGIC: Final = "application/strategic-merge-patch+json"

INSIDE: Final = "/api/v1/namespaces/{namespace}"
PODS: Final = f"{INSIDE}/pods"
MAPS: Final = f"{INSIDE}/configmaps"
DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/{namespace}/deployments"
BUDGETS: Final = "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
GADGETS: Final = "/apis/contract.nemutator.io/v1/namespaces/{namespace}/gadgets"
GADGET: Final = {"apiVersion": "contract.nemutator.io/v1", "kind": "Gadget"}
TOKEN_REVIEWS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

Who = Literal["admin", "nobody", "anonymous", "stranger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request; what it gets is either a whole answer or the first line of a watch."""

    name: str
    method: str = "GET"
    path: str
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b""
    content_type: str = JSON
    accept: str = JSON
    who: Who = "admin"


def pod(name: str, **metadata: object) -> Json:
    containers = [{"name": "app", "image": "app:1"}]
    # Nobody schedules it: it must not reach a node that other tests may have started.
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"containers": containers, "schedulerName": "nobody"},
    }


def settings(**data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": data}


def eviction(name: str, **more: object) -> Json:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **more}


def _get(name: str, path: str, *, who: Who = "admin", accept: str = JSON, **query: str) -> Case:
    query = {key.rstrip("_"): value for key, value in query.items()}
    return Case(name=name, path=path, query=query, who=who, accept=accept)


def _send(
    name: str, method: str, path: str, body: object, *, type_: str = JSON, who: Who = "admin",
    **query: str,
) -> Case:  # fmt: skip
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Case(
        name=name, method=method, path=path, query=query, body=sent, content_type=type_, who=who
    )


def _patch(name: str, type_: str, path: str, body: object, **query: str) -> Case:
    return _send(name, "PATCH", path, body, type_=type_, who="admin", **query)


_LABEL = {"metadata": {"labels": {"x": "1"}}}
_WRONG_UID = {"preconditions": {"uid": "another"}}
_OLD = {"preconditions": {"resourceVersion": "1"}}


def _configured(what: str, *, times: int = 1, **entry: object) -> Case:
    """A webhook configuration with something wrong in it."""
    good = {
        "name": "a.contract.nemutator.io",
        "clientConfig": {"url": "https://127.0.0.1:1/x"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    hook = {key: value for key, value in {**good, **entry}.items() if value is not None}
    body = {"metadata": {"name": "contract"}, "webhooks": [hook] * times}
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    return _send(f"webhook: {what}", "POST", path, body, dryRun="All")


READS = (
    _get("get: no such pod", f"{PODS}/none"),
    _get("get: no such deployment", f"{DEPLOYMENTS}/none"),
    _get("get: no such namespace", "/api/v1/namespaces/none"),
    _get("get: no such namespace of a pod", "/api/v1/namespaces/none/pods/none"),
    _get("get: no such gadget", f"{GADGETS}/none"),
    _get("path: no such group", "/apis/no.such/v1/things"),
    _get("path: no such version", "/apis/apps/v9/deployments"),
    _get("path: no such core version", "/api/v9/pods"),
    _get("path: no such resource", "/api/v1/things"),
    _get("path: no such resource of a group", "/apis/apps/v1/things"),
    _get("path: no such custom resource", "/apis/contract.nemutator.io/v1/things"),
    _get("path: no such resource in a namespace", f"{INSIDE}/things"),
    _get("path: no such resource by name", f"{INSIDE}/things/none"),
    _get("path: no such subresource", f"{PODS}/taken/nothing"),
    _get("path: a cluster resource in a namespace", f"{INSIDE}/nodes"),
    _get("path: an object of a namespace without one", "/api/v1/pods/taken"),
    _get("path: no such page", "/nothing"),
    _get("discovery: no such group", "/apis/no.such"),
    _get("discovery: no such version", "/apis/apps/v9"),
    _get("get: not acceptable", PODS, accept="text/html"),
    _get("get: metadata of a version that is not", PODS,
         accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v9"),
    _get("get: a review", TOKEN_REVIEWS),
    _get("list: a bad label selector", PODS, labelSelector="a in"),
    _get("list: a bad label value", PODS, labelSelector="a=b c"),
    _get("list: a bad field selector", PODS, fieldSelector="spec"),
    _get("list: an unknown field", PODS, fieldSelector="spec.x=1"),
    _get("list: an unknown field of a map", MAPS, fieldSelector="data.x=1"),
    _get("list: an unknown field of a gadget", GADGETS, fieldSelector="spec.x=1"),
    _get("list: a limit in words", PODS, limit="many"),
    _get("list: a version in words", PODS, resourceVersion="new"),
    _get("list: a version to come", PODS, resourceVersion="999999999"),
    _get("list: exactly no version", PODS, resourceVersionMatch="Exact"),
    _get("list: exactly version 0", PODS, resourceVersion="0", resourceVersionMatch="Exact"),
    _get("list: an unknown match", PODS, resourceVersion="1", resourceVersionMatch="About"),
    _get("list: a bad continue token", PODS, limit="1", continue_="nonsense"),
    _get("list: a continue token and a match", PODS, continue_="x", resourceVersion="1",
         resourceVersionMatch="Exact"),
    _get("list: initial events", PODS, sendInitialEvents="true"),
    _get("watch: a version in words", PODS, watch="1", resourceVersion="new", timeoutSeconds="1"),
    _get("watch: a version of long ago", GADGETS, watch="1", resourceVersion="1",
         timeoutSeconds="1"),
    _get("watch: a match without initial events", PODS, watch="1",
         resourceVersionMatch="NotOlderThan", timeoutSeconds="1"),
    _get("watch: initial events without a match", PODS, watch="1", sendInitialEvents="true",
         timeoutSeconds="1"),
    _get("watch: initial events exactly", PODS, watch="1", sendInitialEvents="true",
         resourceVersionMatch="Exact", resourceVersion="1", timeoutSeconds="1"),
    _get("watch: initial events without bookmarks", PODS, watch="1", sendInitialEvents="true",
         resourceVersionMatch="NotOlderThan", timeoutSeconds="1"),
    _get("watch: an unknown field", PODS, watch="1", fieldSelector="spec.x=1", timeoutSeconds="1"),
)  # fmt: skip

CREATIONS = (
    _send("create: taken", "POST", PODS, pod("taken")),
    _send("create: taken, of a group", "POST", GADGETS, {**GADGET, "metadata": {"name": "taken"}}),
    _send("create: in no such namespace", "POST", "/api/v1/namespaces/none/configmaps",
          {"metadata": {"name": "a"}}),
    _send("create: without a name", "POST", MAPS, {"metadata": {}}),
    _send("create: without metadata", "POST", MAPS, {}),
    _send("create: a bad name", "POST", MAPS, {"metadata": {"name": "Not_A_Name"}}),
    _send("create: a bad name of a pod", "POST", PODS, pod("Not_A_Name")),
    _send("create: a bad name of a gadget", "POST", GADGETS, {**GADGET, "metadata": {"name": "Not_A_Name"}}),
    _send("create: a name that is too long", "POST", MAPS, {"metadata": {"name": "a" * 254}}),
    _send("create: a bad label", "POST", MAPS,
          {"metadata": {"name": "a", "labels": {"a": "not a value"}}}),
    _send("create: a bad label's name", "POST", MAPS,
          {"metadata": {"name": "a", "labels": {"a b": "c"}}}),
    _send("create: a bad annotation's name", "POST", MAPS,
          {"metadata": {"name": "a", "annotations": {"a b": "c"}}}),
    _send("create: annotations that are too large", "POST", MAPS,
          {"metadata": {"name": "a", "annotations": {"a": "x" * 262144}}}),
    _send("create: another kind", "POST", PODS, {**pod("a"), "kind": "Node", "apiVersion": "v1"}),
    _send("create: another version", "POST", PODS, {**pod("a"), "kind": "Pod",
                                                    "apiVersion": "v2"}),
    _send("create: an unknown kind", "POST", PODS,
          {**pod("a"), "kind": "Thing", "apiVersion": "v1"}),
    _send("create: another kind of a gadget", "POST", GADGETS,
          {**GADGET, "kind": "Other", "metadata": {"name": "a"}}),
    _send("create: a gadget without a kind", "POST", GADGETS, {"metadata": {"name": "a"}}),
    _send("create: a list", "POST", MAPS, []),
    _send("create: no JSON", "POST", MAPS, b"{not json"),
    _send("create: nothing", "POST", MAPS, b""),
    _send("create: labels that are no map", "POST", MAPS,
          {"metadata": {"name": "a", "labels": "x"}}),
    _send("create: in another namespace", "POST", MAPS,
          {"metadata": {"name": "a", "namespace": "default"}}),
    _send("create: with a version", "POST", MAPS,
          {"metadata": {"name": "a", "resourceVersion": "5"}}),
    _send("create: another media type", "POST", MAPS, {"metadata": {"name": "a"}},
          type_="text/plain"),
    _send("create: a bad dry run", "POST", MAPS, {"metadata": {"name": "a"}}, dryRun="Some"),
    _send("create: a bad field manager", "POST", MAPS, {"metadata": {"name": "a"}},
          fieldManager="x" * 129),
    _send("create: above 3 MiB", "POST", MAPS,
          {"metadata": {"name": "a"}, "data": {"a": "x" * (3 * 1024 * 1024)}}),
    _send("create: more than etcd takes", "POST", GADGETS, {
        **GADGET, "metadata": {"name": "big"}, "spec": {"x": "x" * 1_600_000}}),
    _send("create: an event of nothing here", "POST", f"{INSIDE}/events",
          {"metadata": {"name": "a"}, "involvedObject": {}, "reason": "Tried"}),
    _send("create: an event of elsewhere", "POST", f"{INSIDE}/events",
          {"metadata": {"name": "a"}, "involvedObject": {"namespace": "x"}, "reason": "Tried"}),
    _send("create: at an object", "POST", f"{PODS}/a", pod("a")),
)  # fmt: skip

PATCHES = (
    _patch("json patch: a failed test", PATCH, f"{PODS}/taken",
           [{"op": "test", "path": "/metadata/labels/app", "value": "other"}]),
    _patch("json patch: a failed test of the uid", PATCH, f"{PODS}/taken",
           [{"op": "test", "path": "/metadata/uid", "value": "another"}]),
    _patch("json patch: a path that is not there", PATCH, f"{PODS}/taken",
           [{"op": "remove", "path": "/spec/nothing"}]),
    _patch("json patch: replace what is not there", PATCH, f"{PODS}/taken",
           [{"op": "replace", "path": "/metadata/labels/none", "value": "x"}]),
    _patch("json patch: add below what is not there", PATCH, f"{PODS}/taken",
           [{"op": "add", "path": "/metadata/annotations/a", "value": "x"}]),
    _patch("json patch: a test for null of what is not there", PATCH, f"{PODS}/taken",
           [{"op": "test", "path": "/metadata/labels/nothing", "value": None}]),
    _patch("json patch: a test for a value of what is not there", PATCH, f"{PODS}/taken",
           [{"op": "test", "path": "/metadata/labels/nothing", "value": "x"}]),
    _patch("json patch: an unknown operation", PATCH, f"{PODS}/taken",
           [{"op": "jump", "path": "/a"}]),
    _patch("json patch: no list", PATCH, f"{PODS}/taken", {"op": "remove"}),
    _patch("json patch: no JSON", PATCH, f"{PODS}/taken", b"{not json"),
    _patch("json patch: an index beyond the end", PATCH, f"{PODS}/taken",
           [{"op": "add", "path": "/spec/containers/9", "value": {"name": "x", "image": "x"}}]),
    _patch("json patch: of no such pod", PATCH, f"{PODS}/none", []),
    _patch("merge patch: no JSON", MERGE, f"{PODS}/taken", b"{not json"),
    _patch("merge patch: a list", MERGE, f"{PODS}/taken", []),
    _patch("merge patch: of no such pod", MERGE, f"{PODS}/none", _LABEL),
    _patch("merge patch: another name", MERGE, f"{MAPS}/settings", {"metadata": {"name": "b"}}),
    _patch("merge patch: another namespace", MERGE, f"{MAPS}/settings",
           {"metadata": {"namespace": "default"}}),
    _patch("merge patch: another uid", MERGE, f"{MAPS}/settings",
           {"metadata": {"uid": "another", "labels": {"x": "1"}}}),
    _patch("merge patch: another uid of a gadget", MERGE, f"{GADGETS}/taken",
           {"metadata": {"uid": "another", "labels": {"x": "1"}}}),
    _patch("merge patch: an old version", MERGE, f"{MAPS}/settings",
           {"metadata": {"resourceVersion": "1", "labels": {"x": "1"}}}),
    _patch("merge patch: an old version of a gadget", MERGE, f"{GADGETS}/taken",
           {"metadata": {"resourceVersion": "1", "labels": {"x": "1"}}}),
    _patch("merge patch: a bad label", MERGE, f"{MAPS}/settings",
           {"metadata": {"labels": {"a": "not a value"}}}),
    _patch("merge patch: a bad label of a gadget", MERGE, f"{GADGETS}/taken",
           {"metadata": {"labels": {"a": "not a value"}}}),
    _patch("merge patch: with force", MERGE, f"{MAPS}/settings", _LABEL, force="true"),
    _patch("merge patch: of all", MERGE, MAPS, _LABEL),
    _patch("patch: an unknown media type", "text/plain", f"{MAPS}/settings", _LABEL),
    _patch("patch: strategic, of a gadget", STRATEGIC, f"{GADGETS}/taken", _LABEL),
    _patch("apply: without a manager", APPLY, f"{MAPS}/settings", settings(a="1")),
    _patch("apply: what another owns", APPLY, f"{MAPS}/settings", settings(a="2"),
           fieldManager="two"),
    _patch("apply: two things that another owns", APPLY, f"{MAPS}/settings",
           settings(a="2", b="2"), fieldManager="two"),
    _patch("apply: what an update owns", APPLY, f"{MAPS}/settings", settings(d="2"),
           fieldManager="two"),
    _patch("apply: what several own", APPLY, f"{MAPS}/settings",
           settings(d="2", c="2", b="2", a="2"), fieldManager="two"),
    _patch("apply: without a kind", APPLY, f"{MAPS}/settings", {"metadata": {"name": "settings"}},
           fieldManager="two"),
    _patch("apply: another kind", APPLY, f"{MAPS}/settings", {**settings(), "kind": "Secret"},
           fieldManager="two"),
    _patch("apply: another name", APPLY, f"{MAPS}/settings",
           {**settings(), "metadata": {"name": "other"}}, fieldManager="two"),
    _patch("apply: managed fields", APPLY, f"{MAPS}/settings",
           {**settings(), "metadata": {"name": "settings", "managedFields": [{"manager": "x"}]}},
           fieldManager="two"),
    _patch("apply: an old version", APPLY, f"{MAPS}/settings",
           {**settings(), "metadata": {"name": "settings", "resourceVersion": "1"}},
           fieldManager="two"),
    _patch("apply: a uid to what is not there", APPLY, f"{MAPS}/none",
           {**settings(), "metadata": {"name": "none", "uid": "another"}}, fieldManager="two"),
    _patch("apply: a version to what is not there", APPLY, f"{MAPS}/none",
           {**settings(), "metadata": {"name": "none", "resourceVersion": "1"}},
           fieldManager="two"),
    _patch("apply: another uid", APPLY, f"{MAPS}/settings",
           {**settings(), "metadata": {"name": "settings", "uid": "another"}}, fieldManager="two"),
    _patch("apply: no YAML", APPLY, f"{MAPS}/settings", b"{not: [yaml", fieldManager="two"),
    _patch("apply: the status of no such pod", APPLY, f"{PODS}/none/status",
           {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "none"}}, fieldManager="two"),
    _patch("status: of no such pod", MERGE, f"{PODS}/none/status", {"status": {}}),
    _patch("status: of what has none", MERGE, f"{MAPS}/settings/status", {"status": {}}),
)  # fmt: skip

UPDATES = (
    _send("update: another name", "PUT", f"{MAPS}/settings", settings() | {"metadata": {"name": "b"}}),
    _send("update: no such map", "PUT", f"{MAPS}/none", settings() | {"metadata": {"name": "none"}}),
    _send("update: an old version", "PUT", f"{MAPS}/settings",
          settings() | {"metadata": {"name": "settings", "resourceVersion": "1"}}),
    _send("update: another uid", "PUT", f"{MAPS}/settings",
          settings() | {"metadata": {"name": "settings", "uid": "another"}}),
    _send("update: a gadget without a version", "PUT", f"{GADGETS}/taken", {**GADGET, "metadata": {"name": "taken"}}),
    _send("update: another uid of a gadget", "PUT", f"{GADGETS}/taken", {
        **GADGET, "metadata": {"name": "taken", "uid": "another", "resourceVersion": "1"}}),
    _send("update: a budget without a version", "PUT", f"{BUDGETS}/one", {
        "metadata": {"name": "one"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "taken"}}}}),
    _send("update: of all", "PUT", MAPS, settings()),
    _send("delete: no such pod", "DELETE", f"{PODS}/none", b""),
    _send("delete: no such gadget", "DELETE", f"{GADGETS}/none", b""),
    _send("delete: another uid", "DELETE", f"{PODS}/taken", _WRONG_UID),
    _send("delete: another uid of a map", "DELETE", f"{MAPS}/settings", _WRONG_UID),
    _send("delete: another uid of a gadget", "DELETE", f"{GADGETS}/taken", _WRONG_UID),
    _send("delete: another uid of a deployment", "DELETE", f"{DEPLOYMENTS}/taken", _WRONG_UID),
    _send("delete: an old version", "DELETE", f"{MAPS}/settings", _OLD),
    _send("delete: a bad policy", "DELETE", f"{MAPS}/settings", {"propagationPolicy": "Someday"}),
    _send("delete: a bad dry run", "DELETE", f"{MAPS}/settings", {"dryRun": ["Some"]}),
    _send("delete: no JSON", "DELETE", f"{MAPS}/settings", b"{not json"),
    _send("evict: no such pod", "POST", f"{PODS}/none/eviction", eviction("none")),
    _send("evict: another name", "POST", f"{PODS}/taken/eviction", eviction("other")),
    _send("evict: against a budget", "POST", f"{PODS}/taken/eviction", eviction("taken")),
    _send("evict: against a budget, dry", "POST", f"{PODS}/taken/eviction", eviction("taken"),
          dryRun="All"),
    _send("evict: with two budgets", "POST", f"{PODS}/twice/eviction", eviction("twice")),
    _send("evict: another uid", "POST", f"{PODS}/idle/eviction",
          eviction("idle", deleteOptions=_WRONG_UID)),
    _send("evict: nothing", "POST", f"{PODS}/taken/eviction", {}),
    _get("evict: read", f"{PODS}/taken/eviction"),
)  # fmt: skip

REVIEWS = (
    _send("token review: of nothing", "POST", TOKEN_REVIEWS, {"spec": {}}),
    _send("token review: of a stranger", "POST", TOKEN_REVIEWS, {"spec": {"token": "stranger"}}),
    _send("access review: of nothing", "POST", ACCESS_REVIEWS, {"spec": {}}),
    _send("access review: of nobody", "POST", ACCESS_REVIEWS,
          {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
    _send("access review: no", "POST", ACCESS_REVIEWS, {
        "spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods"}}}),
    _get("forbidden: list everywhere", "/api/v1/pods", who="nobody"),
    _get("forbidden: list in a namespace", PODS, who="nobody"),
    _get("forbidden: watch", PODS, who="nobody", watch="1"),
    _get("forbidden: get", f"{PODS}/taken", who="nobody"),
    _get("forbidden: get of a group", f"{DEPLOYMENTS}/none", who="nobody"),
    _get("forbidden: get of the cluster", "/api/v1/nodes/none", who="nobody"),
    _get("forbidden: get a namespace", INSIDE, who="nobody"),
    _get("forbidden: a resource that is not", f"{INSIDE}/things", who="nobody"),
    _get("forbidden: a group that is not", "/apis/no.such/v1/things", who="nobody"),
    _get("forbidden: a namespace that is not", "/api/v1/namespaces/none/pods", who="nobody"),
    _get("forbidden: a page", "/metrics", who="nobody"),
    _send("forbidden: create", "POST", PODS, pod("a"), who="nobody"),
    _send("forbidden: nonsense", "POST", PODS, b"{not json", who="nobody"),
    _send("forbidden: evict", "POST", f"{PODS}/taken/eviction", eviction("taken"), who="nobody"),
    _send("forbidden: patch the status", "PATCH", f"{PODS}/taken/status", _LABEL, type_=MERGE,
          who="nobody"),
    _send("forbidden: apply", "PATCH", f"{MAPS}/none", settings(), type_=APPLY, who="nobody",
          fieldManager="x"),
    _send("forbidden: delete all", "DELETE", PODS, b"", who="nobody"),
    _send("forbidden: review", "POST", TOKEN_REVIEWS, {"spec": {"token": "x"}}, who="nobody"),
    _get("anonymous: list", PODS, who="anonymous"),
    _get("anonymous: discovery", "/apis/apps/v1", who="anonymous"),
    _get("stranger: list", PODS, who="stranger"),
    _get("stranger: version", "/version", who="stranger"),
)  # fmt: skip

CONFIGURATIONS = (
    _configured("side effects", sideEffects="Some"),
    _configured("no side effects", sideEffects=None),
    _configured("no version of reviews", admissionReviewVersions=[]),
    _configured("an unknown version of reviews", admissionReviewVersions=["v9"]),
    _configured("too long a timeout", timeoutSeconds=31),
    _configured("no timeout", timeoutSeconds=0),
    _configured("an unknown failure policy", failurePolicy="Maybe"),
    _configured("an unknown match policy", matchPolicy="Maybe"),
    _configured("a short name and no TLS", name="a.io",
                clientConfig={"url": "http://127.0.0.1:1/x"}),
    _configured("nobody to call", clientConfig={}),
    _configured("twice the same name", times=2),
)  # fmt: skip

CASES = (*READS, *CREATIONS, *PATCHES, *UPDATES, *REVIEWS, *CONFIGURATIONS)

IN_GOS_WORDS: Final = frozenset({
    "list: a bad label selector",
    "list: a bad label value",
    "list: a bad continue token",
    "create: another kind",
    "create: another version",
    "create: an unknown kind",
    "create: a gadget without a kind",
    "create: a list",
    "create: no JSON",
    "create: nothing",
    "create: labels that are no map",
    "json patch: no list",
    "json patch: no JSON",
    "merge patch: no JSON",
    "merge patch: a list",
    "apply: no YAML",
    "delete: no JSON",
})  # fmt: skip
"""Cases whose message quotes one of Go's parsers: the fake, which has others, need not."""
