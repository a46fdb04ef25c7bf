"""Refusals as kube-apiserver words them: a `Status` with reason, code, details and causes.

Texts and shapes are those of k8s.io/apimachinery/pkg/api/errors and of the registries of 1.36.
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
            "reason": reason,
            **({"details": details} if details else {}),
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


def invalid(kind: Kind, name: str, *causes: tuple[str, str, str]) -> ApiError:
    """*causes* are (reason, field, message), as `("FieldValueRequired", "metadata.name", …)`."""
    words = [f"{field}: {message}" for _, field, message in causes]
    listed = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    told = [{"reason": why, "message": text, "field": field} for why, field, text in causes]
    group = {"group": kind.group} if kind.group else {}
    return ApiError(
        422,
        "Invalid",
        f'{kind.qualified} "{name}" is invalid: {listed}',
        details={"name": name, **group, "kind": kind.kind, "causes": told},
    )


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(kind: Kind, name: str, why: str) -> ApiError:
    named = f' "{name}"' if name else ""
    message = f"{kind.resource}{named} is forbidden: {why}"
    return ApiError(403, "Forbidden", message, details=about(kind, name))


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message)


def unsupported_media_type(*accepted: str) -> ApiError:
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
    return ApiError(415, "UnsupportedMediaType", message)


def not_acceptable() -> ApiError:
    message = (
        "only the following media types are accepted: application/json, application/json;"
        "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    )
    return ApiError(406, "NotAcceptable", message)


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


def internal(message: str) -> ApiError:
    cause = {"message": message}
    text = f"Internal error occurred: {message}"
    return ApiError(500, "InternalError", text, details={"causes": [cause]})
