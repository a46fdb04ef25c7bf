"""The API as an OpenAPI document: made of what is said of each path and of the types of its answers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.access.permissions import API, Permission, Verb

Json = dict[str, Any]

Method = Literal["GET", "POST", "DELETE"]

JSON = "application/json"
_REFERENCE = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query."""

    name: str
    type: Any
    meaning: str
    required: bool = False


# What many paths take.
LIMIT = QueryWord("limit", int, "How many at most.")
NAMESPACE = QueryWord("namespace", str, "Of this namespace alone.")
NAME = QueryWord("name", str, "Of this name alone.")
KIND = QueryWord("kind", str, "Of this kind alone.")
CONTINUE = QueryWord("continue", str, "The `next` of the page before.")
ORDER = QueryWord("orderBy", str, "By what, the greatest first.")
LABELS = QueryWord("labelSelector", str, "As kubectl takes it.")
FIELDS = QueryWord(
    "fieldSelector", str, "As kubectl takes it, of the fields that docs/inventory.md has."
)
SEARCH = QueryWord("search", str, "Words that are all in its names.")
WORKLOAD = QueryWord("workload", str, "KIND/NAME.")
VIEW = QueryWord("as", str, "Another view of the same: see docs/inventory.md.")
MOMENTS = (
    QueryWord("container", str, "Needed where there are several."),
    QueryWord("from", str, "Seconds since 1970, or before now: -3600."),
    QueryWord("to", str, "The same."),
    QueryWord("step", str, "Seconds."),
)
PAGED = (NAMESPACE, LIMIT, CONTINUE, ORDER, LABELS, FIELDS, SEARCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPath:
    """What is said of one path and method."""

    method: Method
    path: str
    verb: Verb
    resource: str
    narrows: bool = False
    summary: str
    query: Sequence[QueryWord] = ()
    body: Any = None
    """The type of what is sent; None: nothing is."""
    answers: Any
    """The type of what comes back as JSON, several of them, or else its media type as a text."""
    status: int = 200

    @property
    def permission(self) -> Permission:
        return Permission(self.verb, self.resource, self.narrows)


def asked(
    path: str, resource: str, summary: str, answers: Any, *query: QueryWord, narrows: bool = False
) -> ApiPath:
    return ApiPath(
        method="GET",
        path=f"{API}{path}",
        verb="get",
        resource=resource,
        narrows=narrows,
        summary=summary,
        query=query,
        answers=answers,
    )


def posted(
    path: str,
    permission: tuple[Verb, str],
    summary: str,
    answers: Any,
    *query: QueryWord,
    body: Any = None,
    status: int = 200,
    narrows: bool = False,
) -> ApiPath:
    verb, resource = permission
    return ApiPath(
        method="POST",
        path=f"{API}{path}",
        verb=verb,
        resource=resource,
        narrows=narrows,
        summary=summary,
        query=query,
        body=body,
        answers=answers,
        status=status,
    )


class ApiRefusal(msgspec.Struct, frozen=True, rename={"what": "error"}):
    """Every refusal: what is wrong, and what to do."""

    what: str
    remedy: str


def open_api(paths: Iterable[ApiPath], *, version: str) -> Json:
    """The OpenAPI 3.1 document of *paths*."""
    several = list(paths)
    types = [ApiRefusal]
    for each in several:
        types += [*_bodies(each), *answer_types(each), *(word.type for word in each.query)]
    schemas, components = msgspec.json.schema_components(
        types, schema_hook=_anything, ref_template=_REFERENCE
    )
    found = iter(schemas)
    refused = next(found)
    shown: dict[str, Json] = {}
    for each in several:
        operation = _operation(each, found, refused)
        shown.setdefault(each.path, {})[each.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nemutator",
            "version": version,
            "description": "The brain's API, for people and programs. In a cluster it takes a bearer token "
            "that the API server knows, and each path needs the permission that it names; on the unix "
            "socket of one machine it asks for nothing.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],
        "paths": dict(sorted(shown.items())),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _anything(kind: type) -> Json:
    if kind is object:
        return {"description": "anything"}
    raise NotImplementedError(kind)


def _operation(path: ApiPath, found: Iterator[Json], refused: Json) -> Json:
    """Takes of *found* the schemas of its body, its answer and its query, in this order."""
    narrowed = " With `namespace`, permission there is enough." if path.narrows else ""
    operation: Json = {
        "operationId": _name(path),
        "summary": path.summary,
        "description": f"Needs `{path.permission}`.{narrowed}",
        "tags": [path.resource],
    }
    for _ in _bodies(path):
        content = {JSON: {"schema": next(found)}}
        operation["requestBody"] = {"required": True, "content": content}
    media = path.answers if isinstance(path.answers, str) else JSON
    shapes = [next(found) for _ in answer_types(path)] or [{"type": "string"}]
    schema = shapes[0] if len(shapes) == 1 else {"anyOf": shapes}
    parameters = [*_in_path(path.path), *(_in_query(word, next(found)) for word in path.query)]
    if parameters:
        operation["parameters"] = parameters
    operation["responses"] = {
        str(path.status): {"description": "Done.", "content": {media: {"schema": schema}}},
        "default": {
            "description": "Refused, with what to do.",
            "content": {JSON: {"schema": refused}},
        },
    }
    return operation


def _bodies(path: ApiPath) -> list[Any]:
    return [] if path.body is None else [path.body]


def answer_types(path: ApiPath) -> list[Any]:
    if isinstance(path.answers, str):
        return []
    return list(path.answers) if isinstance(path.answers, tuple) else [path.answers]


def _in_path(path: str) -> list[Json]:
    text = {"type": "string", "minLength": 1}
    return [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _in_query(word: QueryWord, schema: Mapping[str, Any]) -> Json:
    return {
        "name": word.name,
        "in": "query",
        "required": word.required,
        "description": word.meaning,
        "schema": dict(schema),
    }


def _name(path: ApiPath) -> str:
    """Of `GET /api/v1/profiles/{id}/pprof`: get_profiles_id_pprof."""
    words = re.findall(r"[\w-]+", path.path.removeprefix(API))
    return "_".join([path.method.lower(), *words]).replace("-", "_")


def document(kind: str, /, **fields: Any) -> Any:
    """The type of an answer of this *kind*, as those that have no type of their own are shaped."""
    head: list[tuple[str, Any]] = [
        ("apiVersion", Literal[names.API_VERSION]),
        ("kind", Literal[kind]),
    ]
    return msgspec.defstruct(kind, [*head, *fields.items()])


def part(name: str, /, **fields: Any) -> Any:
    """The type of a part of such an answer."""
    return msgspec.defstruct(name, list(fields.items()))
