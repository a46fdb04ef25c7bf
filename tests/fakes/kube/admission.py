"""Admission webhooks, called as kube-apiserver calls them: over TLS, mutating ones first.

Order, selectors, failure policies, dry-run rules, reinvocation and messages follow
k8s.io/apiserver/pkg/admission/plugin/webhook. Without CEL there are no matchConditions: they are
refused when a webhook that has them would have to be called.
"""

import base64
import json
import ssl
import uuid
from collections.abc import Iterator
from typing import Any

import aiohttp
from nemutator_controller.kube.label_selectors import Operator, Requirement, Selector

from tests.fakes.kube import kinds
from tests.fakes.kube.patching import PatchError, json_patch, operations_of
from tests.fakes.kube.statuses import ApiError, internal
from tests.fakes.kube.store import Store
from tests.fakes.kube.writing import Operation, Write

Json = dict[str, Any]

_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.NOT_EXISTS,
}
_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


class CallFailedError(Exception):
    """A webhook gave no usable answer: its failure policy decides."""


class Webhooks:
    """The webhooks of the configurations in the store.

    A `service` reference is looked up in *services*: (namespace, name) → (host, port).
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.services: dict[tuple[str, str], tuple[str, int]] = {}

    async def validate(
        self, write: Write, operation: Operation, new: Json | None, old: Json | None
    ) -> None:
        for hook in self._matching(kinds.VALIDATING_WEBHOOKS, write, operation, new, old):
            await self._call(hook, write, operation, new, old, validating=True)

    async def mutate(
        self, write: Write, operation: Operation, new: Json | None, old: Json | None
    ) -> Json | None:
        seen: list[tuple[Json, Json | None]] = []
        for hook in self._matching(kinds.MUTATING_WEBHOOKS, write, operation, new, old):
            new = await self._call(hook, write, operation, new, old)
            seen.append((hook, new))
        for hook, left in seen:
            # Once more for those that asked for it, when somebody changed the object after them.
            if hook.get("reinvocationPolicy") == "IfNeeded" and left != new:
                new = await self._call(hook, write, operation, new, old)
        return new

    def _matching(
        self,
        kind: kinds.Kind,
        write: Write,
        operation: Operation,
        new: Json | None,
        old: Json | None,
    ) -> Iterator[Json]:
        # About who is to be asked, nobody is asked.
        for configuration in () if write.kind.registers else self._store.all(kind):
            for hook in configuration.get("webhooks") or []:
                if self._matches(hook, write, operation, new, old):
                    yield hook

    def _matches(
        self, hook: Json, write: Write, operation: str, new: Json | None, old: Json | None
    ) -> bool:
        if not any(_rule_covers(rule, write, operation) for rule in hook.get("rules") or []):
            return False
        if not self._namespace_matches(hook.get("namespaceSelector") or {}, write, new or old):
            return False
        selector = _selector(hook.get("objectSelector") or {})
        manifests = [manifest for manifest in (new, old) if manifest is not None]
        return any(selector.matches(_labels(manifest)) for manifest in manifests)

    def _namespace_matches(self, wanted: Json, write: Write, manifest: Json | None) -> bool:
        if write.kind == kinds.NAMESPACES:
            return _selector(wanted).matches(_labels(manifest or {}))
        if not write.namespace:
            return True
        namespace = self._store.get(kinds.NAMESPACES, "", write.namespace)
        return _selector(wanted).matches(_labels(namespace or {}))

    async def _call(
        self,
        hook: Json,
        write: Write,
        operation: Operation,
        new: Json | None,
        old: Json | None,
        *,
        validating: bool = False,
    ) -> Json | None:
        """*new* as *hook* leaves it, or an `ApiError` when it or its absence denies the request."""
        name = hook["name"]
        if hook.get("matchConditions"):
            raise internal(f'webhook "{name}": matchConditions need CEL, which this fake lacks')
        review = _review(write, operation, new, old)
        try:
            answer = _answer(await self._post(hook, review), review["request"]["uid"])
            patch = _patch(answer)
            if validating and patch:
                raise _invalid_response("validating webhook may not return response.patch")
        except CallFailedError as error:
            if hook.get("failurePolicy", "Fail") == "Ignore":
                return new
            raise internal(f'failed calling webhook "{name}": {error}') from error
        write.warnings.extend(answer.get("warnings") or [])
        if not answer.get("allowed"):
            raise _denied(name, answer.get("status") or {})
        if not patch:
            return new
        if new is None:
            raise internal(
                f'admission webhook "{name}" attempted to modify the object, which is not'
                " supported for this operation"
            )
        try:
            patched: Json = json_patch(new, patch)
        except PatchError as error:
            # Not a failed call: an Ignore policy does not save a patch that does not apply.
            raise internal(str(error)) from error
        return patched

    async def _post(self, hook: Json, review: Json) -> Any:
        client, timeout_s = hook["clientConfig"], hook.get("timeoutSeconds", 10)
        url, server_name = self._target(client)
        asked = f"{url}?timeout={timeout_s}s"
        try:
            authorities = base64.b64decode(client.get("caBundle", "")).decode()
            context = ssl.create_default_context(cadata=authorities or None)
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(timeout_s)) as session,
                session.post(
                    url,
                    params={"timeout": f"{timeout_s}s"},
                    json=review,
                    ssl=context,
                    server_hostname=server_name,
                ) as response,
            ):
                body = await response.read()
        except TimeoutError as error:
            raise CallFailedError(
                f'failed to call webhook: Post "{asked}": context deadline exceeded'
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CallFailedError(f'failed to call webhook: Post "{asked}": {error}') from error
        if response.status != 200:
            raise CallFailedError(
                f"an error on the server ({body[:200]!r}) has prevented the request"
            )
        try:
            return json.loads(body)
        except ValueError as error:
            raise CallFailedError(
                f"couldn't get version/kind; json parse error: {error}"
            ) from error

    def _target(self, client: Json) -> tuple[str, str | None]:
        if "url" in client:
            return client["url"], None
        service = client["service"]
        namespace, name = service["namespace"], service["name"]
        known = self.services.get((namespace, name))
        if known is None:
            raise CallFailedError(f'failed to call webhook: service "{name}" not found')
        return f"https://{known[0]}:{known[1]}{service.get('path', '/')}", f"{name}.{namespace}.svc"


def _rule_covers(rule: Json, write: Write, operation: str) -> bool:
    kind = write.kind
    resource = f"{kind.plural}/{write.subresource}" if write.subresource else kind.plural
    patterns = {resource, f"*/{write.subresource}", "*/*"} if write.subresource else {resource, "*"}
    patterns |= {f"{kind.plural}/*", "*/*"}
    scope = rule.get("scope", "*")
    return (
        not {"*", operation}.isdisjoint(rule["operations"])
        and not {"*", kind.group}.isdisjoint(rule["apiGroups"])
        and not {"*", kind.version}.isdisjoint(rule["apiVersions"])
        and not patterns.isdisjoint(rule["resources"])
        and scope in ("*", "Namespaced" if kind.namespaced else "Cluster")
    )


def _selector(wanted: Json) -> Selector:
    exact = [
        Requirement(key, Operator.EQUALS, (value,))
        for key, value in (wanted.get("matchLabels") or {}).items()
    ]
    expressions = [
        Requirement(term["key"], _OPERATORS[term["operator"]], tuple(term.get("values") or ()))
        for term in wanted.get("matchExpressions") or []
    ]
    return Selector((*exact, *expressions))


def _labels(manifest: Json) -> dict[str, str]:
    return (manifest.get("metadata") or {}).get("labels") or {}


def _review(write: Write, operation: Operation, new: Json | None, old: Json | None) -> Json:
    kind = write.kind
    of_kind = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    if write.subresource == "eviction":
        of_kind = {"group": "policy", "version": "v1", "kind": "Eviction"}
    resource = {"group": kind.group, "version": kind.version, "resource": kind.plural}
    below = (
        {"subResource": write.subresource, "requestSubResource": write.subresource}
        if write.subresource
        else {}
    )
    name = "" if write.collected else write.name
    if not name and new is not None:
        name = new["metadata"].get("name", "")
    request = {
        "uid": str(uuid.uuid4()),
        "kind": of_kind,
        "resource": resource,
        "requestKind": of_kind,
        "requestResource": resource,
        **below,
        **({"name": name} if name else {}),
        **({"namespace": write.namespace} if write.namespace else {}),
        "operation": operation,
        "userInfo": {"username": write.user, "groups": list(write.groups)},
        "object": new,
        "oldObject": old,
        "dryRun": write.dry_run,
        "options": {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"},
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def _answer(review: Any, uid: str) -> Json:
    if not isinstance(review, dict) or not isinstance(review.get("response"), dict):
        raise _invalid_response("webhook response was absent")
    got = f"{review.get('apiVersion')}, Kind={review.get('kind')}"
    expected = "admission.k8s.io/v1, Kind=AdmissionReview"
    if got != expected:
        raise _invalid_response(f"expected webhook response of {expected}, got {got}")
    answer: Json = review["response"]
    if answer.get("uid") != uid:
        raise _invalid_response(f'expected response.uid="{uid}", got "{answer.get("uid", "")}"')
    return answer


def _patch(answer: Json) -> Any:
    """The operations that *answer* asks for, None without any."""
    if not answer.get("patch"):
        return None
    if "patchType" not in answer:
        raise _invalid_response("webhook returned response.patch but not response.patchType")
    if answer["patchType"] != "JSONPatch":
        raise _invalid_response(
            f'webhook returned invalid response.patchType of "{answer["patchType"]}"'
        )
    try:
        return operations_of(base64.b64decode(answer["patch"]))
    except ValueError as error:
        raise CallFailedError(f"received undecodable patch in webhook response: {error}") from error


def _invalid_response(why: str) -> CallFailedError:
    return CallFailedError(f"received invalid webhook response: {why}")


def _denied(name: str, result: Json) -> ApiError:
    deniers = f'admission webhook "{name}" denied the request'
    explanation = result.get("message") or result.get("reason")
    message = f"{deniers}: {explanation}" if explanation else f"{deniers} without explanation"
    code = max(int(result.get("code") or 0), 0)
    # A refusal may not look like a success, whatever the webhook wrote.
    code = max(code, 400)
    return ApiError(code, result.get("reason", ""), message, details=result.get("details"))
