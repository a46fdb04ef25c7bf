"""Refusals as kube-apiserver words them: a `Status` with reason, code, details and causes.

Texts and shapes are those that a real server gave (`tests/golden/kube_statuses.json`).
"""

from typing import Any

from tests.fakes.kube.kinds import Kind

Json = dict[str, Any]

OPTIMISTIC_LOCK = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results. Continuing with the provided token results in an"
    " inconsistent list - objects that were created, modified, or deleted between the time the"
    " first chunk was returned and now may show up in the list."
)


class ApiError(Exception):
    """A request that the server refuses."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Json | None = None,
        metadata: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata or {},
            "status": "Failure",
            "message": message,
            **({"reason": reason} if reason else {}),
            **({} if details is None else {"details": details}),
            "code": code,
        }

    @property
    def retry_after_s(self) -> int | None:
        seconds: int | None = self.status.get("details", {}).get("retryAfterSeconds")
        return seconds


def about(kind: Kind, name: str, **more: Any) -> Json:
    """The details of a refusal that concerns one object."""
    named = {"name": name} if name else {}
    group = {"group": kind.group} if kind.group else {}
    return {**named, **group, "kind": kind.plural, **more}


def not_found(kind: Kind, name: str) -> ApiError:
    message = f'{kind.resource} "{name}" not found'
    return ApiError(404, "NotFound", message, details=about(kind, name))


def already_exists(kind: Kind, name: str) -> ApiError:
    message = f'{kind.resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details=about(kind, name))


def conflict(kind: Kind, name: str, why: str = OPTIMISTIC_LOCK) -> ApiError:
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, details=about(kind, name))


def precondition_failed(kind: Kind, name: str, why: str) -> ApiError:
    """A conflict too, but the deletion that it refuses names the kind and not the resource."""
    message = f'Operation cannot be fulfilled on {kind.qualified} "{name}": {why}'
    details = {**about(kind, name), "kind": kind.kind}
    return ApiError(409, "Conflict", message, details=details)


Cause = tuple[str, str, str]
"""Reason, field, message: `("FieldValueRequired", "metadata.name", "Required value: …")`."""


def invalid(kind: Kind, name: str, *causes: Cause) -> ApiError:
    return invalid_named(kind.group, kind.kind, name, *causes)


def invalid_named(group: str, kind: str, name: str, *causes: Cause) -> ApiError:
    """What is found wrong twice is said once, and is a cause twice."""
    words = [*dict.fromkeys(f"{field}: {message}" for _, field, message in causes)]
    listed = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    told = [{"reason": why, "message": text, "field": field} for why, field, text in causes]
    named = {"name": name} if name else {}
    grouped = {"group": group} if group else {}
    kinded = {"kind": kind} if kind else {}
    return ApiError(
        422,
        "Invalid",
        f'{kind}{"." if group else ""}{group} "{name}" is invalid: {listed}',
        details={**named, **grouped, **kinded, "causes": told},
    )


def invalid_options(kind: str, *causes: Cause) -> ApiError:
    """Of the query or of DeleteOptions: `ListOptions`, `CreateOptions`, …"""
    return invalid_named("meta.k8s.io", kind, "", *causes)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(group: str, plural: str, name: str, why: str) -> ApiError:
    resource = f"{plural}.{group}" if group else plural
    quoted, named = (f' "{name}"', {"name": name}) if name else ("", {})
    grouped = {"group": group} if group else {}
    message = f"{resource}{quoted} is forbidden: {why}"
    details = {**named, **grouped, "kind": plural}
    return ApiError(403, "Forbidden", message, details=details)


def forbidden_page(why: str) -> ApiError:
    return ApiError(403, "Forbidden", f"forbidden: {why}", details={})


def no_such_resource() -> ApiError:
    """The details are empty: that tells it from an object that is not there."""
    message = "the server could not find the requested resource"
    return ApiError(404, "NotFound", message, details={})


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, details={})


def unsupported_media_type(*accepted: str) -> ApiError:
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
    return ApiError(415, "UnsupportedMediaType", message)


def unknown_media_type() -> ApiError:
    """Of a patch, which is refused before anybody looks at what could be accepted."""
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", details={})


def not_acceptable(*representations: str) -> ApiError:
    message = "406: Not Acceptable\n\nAvailable representations: " + ", ".join(representations)
    return ApiError(406, "NotAcceptable", message, details={})


def only_acceptable(*representations: str) -> ApiError:
    """The media type is right, and what it is asked to be shown as is not there."""
    message = "only the following media types are accepted: " + ", ".join(representations)
    return ApiError(406, "NotAcceptable", message)


def request_too_large(limit: int) -> ApiError:
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)


def too_old(version: int, oldest: int) -> ApiError:
    return ApiError(410, "Expired", f"too old resource version: {version} ({oldest})")


def continue_expired(token: str) -> ApiError:
    return ApiError(410, "Expired", CONTINUE_EXPIRED, metadata={"continue": token})


def too_large(version: int, current: int) -> ApiError:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return ApiError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {version}, current: {current}",
        details={"causes": [cause], "retryAfterSeconds": 1},
    )


def too_many_requests(message: str, *, retry_after_s: int = 1, **details: Any) -> ApiError:
    told = {"retryAfterSeconds": retry_after_s, **details} if retry_after_s else details
    return ApiError(429, "TooManyRequests", message, details=told)


def unexplained(message: str) -> ApiError:
    """A plain Go error of a registry or of etcd: no reason, no details."""
    return ApiError(500, "", message)


def internal(message: str) -> ApiError:
    cause = {"message": message}
    text = f"Internal error occurred: {message}"
    return ApiError(500, "InternalError", text, details={"causes": [cause]})
