"""Webhook configurations: what the server puts into them, and which of them it refuses."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.kube.kinds import MUTATING_WEBHOOKS, Kind
from tests.fakes.kube.statuses import Cause

Json = dict[str, Any]

_DEFAULTS = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_REVIEWS = ("v1", "v1beta1")
_CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": ("None", "NoneOnDryRun"),
}


def complete(kind: Kind, configuration: Json) -> None:
    reinvoked = {"reinvocationPolicy": "Never"} if kind == MUTATING_WEBHOOKS else {}
    for hook in configuration.get("webhooks") or []:
        for name, value in {**_DEFAULTS, **reinvoked}.items():
            hook.setdefault(name, value)
        for rule in hook.get("rules") or []:
            rule.setdefault("scope", "*")


def wrong(configuration: Json) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, hook in enumerate(configuration.get("webhooks") or []):
        at = f"webhooks[{index}]"
        yield from _wrong_name(at, hook["name"], seen)
        yield from _wrong_choices(at, hook)
        if not 1 <= hook["timeoutSeconds"] <= 30:
            why = "the timeout value must be between 1 and 30 seconds"
            invalid = f"Invalid value: {hook['timeoutSeconds']}: {why}"
            yield "FieldValueInvalid", f"{at}.timeoutSeconds", invalid
        yield from _wrong_client(at, hook.get("clientConfig") or {})


def _wrong_name(at: str, name: str, seen: set[str]) -> Iterator[Cause]:
    if name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        yield "FieldValueInvalid", f"{at}.name", f'Invalid value: "{name}": {why}'
    if name in seen:
        yield "FieldValueDuplicate", f"{at}.name", f'Duplicate value: "{name}"'
    seen.add(name)


def _wrong_choices(at: str, hook: Json) -> Iterator[Cause]:
    for field, known in _CHOICES.items():
        value = hook.get(field)
        if value is None:
            why = f"Required value: must specify one of {', '.join(known)}"
            yield "FieldValueRequired", f"{at}.{field}", why
        elif value not in known:
            listed = ", ".join(f'"{name}"' for name in known)
            why = f'Unsupported value: "{value}": supported values: {listed}'
            yield "FieldValueNotSupported", f"{at}.{field}", why
    versions = hook.get("admissionReviewVersions")
    if not versions:
        why = f"Required value: must specify one of {', '.join(_REVIEWS)}"
        yield "FieldValueRequired", f"{at}.admissionReviewVersions", why
    elif not {*versions} & {*_REVIEWS}:
        listed = ",".join(f'"{version}"' for version in versions)
        why = f"Invalid value: [{listed}]: must include at least one of {', '.join(_REVIEWS)}"
        yield "FieldValueInvalid", f"{at}.admissionReviewVersions", why


def _wrong_client(at: str, client: Json) -> Iterator[Cause]:
    if ("url" in client) == ("service" in client):
        why = "Required value: exactly one of url or service is required"
        yield "FieldValueRequired", f"{at}.clientConfig", why
    elif "url" in client and (scheme := urlsplit(client["url"]).scheme) != "https":
        why = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield "FieldValueInvalid", f"{at}.clientConfig.url", f'Invalid value: "{scheme}": {why}'
