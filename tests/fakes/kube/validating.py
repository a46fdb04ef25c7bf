"""What the server finds wrong with metadata and with options, in its own words.

Without schemas nothing is known about the rest of an object: a pod without containers is taken.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.kube import registering
from tests.fakes.kube.kinds import EVENTS, Kind
from tests.fakes.kube.statuses import Cause, invalid, invalid_options

Json = dict[str, Any]

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    r" for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_KEY_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or"
    " '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
LONGEST_NAME = 253
LONGEST_LABEL = 63
LARGEST_ANNOTATIONS = 256 * 1024
LONGEST_MANAGER = 128

_WRONG = "FieldValueInvalid"


def check_name(kind: Kind, name: str) -> None:
    if len(name) > LONGEST_NAME:
        rule = f"must be no more than {LONGEST_NAME} characters"
    elif not _SUBDOMAIN.fullmatch(name):
        rule = _SUBDOMAIN_RULE
    else:
        return
    raise invalid(kind, name, (_WRONG, "metadata.name", f'Invalid value: "{name}": {rule}'))


def check_made(kind: Kind, manifest: Json) -> None:
    """An object before it is kept for the first time."""
    metadata = manifest["metadata"]
    wrong = [*_wrong(metadata)]
    if kind == EVENTS:
        about = (manifest.get("involvedObject") or {}).get("namespace", "")
        namespace = metadata["namespace"]
        # Events about what lies in no namespace lie in one of these.
        if about != namespace and (about or namespace not in ("default", "kube-system")):
            why = f'Invalid value: "{about}": does not match event.namespace'
            wrong.append((_WRONG, "involvedObject.namespace", why))
    if kind.registers:
        wrong += registering.wrong(manifest)
    if wrong:
        raise invalid(kind, metadata["name"], *wrong)


def check_change(kind: Kind, name: str, old: Json, new: Json) -> None:
    """Of metadata that are changed: the server looks several times, and gives each its cause."""
    uid = new.get("uid")
    immutable = f'Invalid value: "{uid}": field is immutable'
    wrong = [(_WRONG, "metadata.uid", immutable)] * (2 if uid not in (None, old.get("uid")) else 0)
    wrong += [*_wrong(new)] * (3 if kind.custom else 4)
    if wrong:
        raise invalid(kind, name, *wrong)


def _wrong(metadata: Json) -> Iterator[Cause]:
    for key, value in (metadata.get("labels") or {}).items():
        yield from _wrong_key("metadata.labels", key)
        if len(value) > LONGEST_LABEL:
            why = f"must be no more than {LONGEST_LABEL} characters"
            yield _WRONG, "metadata.labels", f'Invalid value: "{value}": {why}'
        if not _VALUE.fullmatch(value):
            yield _WRONG, "metadata.labels", f'Invalid value: "{value}": {_VALUE_RULE}'
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        yield from _wrong_key("metadata.annotations", key)
    if sum(len(key) + len(value) for key, value in annotations.items()) > LARGEST_ANNOTATIONS:
        why = f"Too long: may not be more than {LARGEST_ANNOTATIONS} bytes"
        yield "FieldValueTooLong", "metadata.annotations", why


def _wrong_key(field: str, key: str) -> Iterator[Cause]:
    # An annotation's name may have capitals that a label's may not; nobody here uses them.
    if not _KEY_NAME.fullmatch(key.rpartition("/")[2]):
        yield _WRONG, field, f'Invalid value: "{key}": {_KEY_RULE}'


def check_options(kind: str, query: Mapping[str, str], *, applied: bool = False) -> None:
    """Of a write, in its query: *kind* is `CreateOptions` or `PatchOptions`, as for any other."""
    wrong: list[Cause] = []
    if kind == "PatchOptions":
        if applied and not query.get("fieldManager"):
            why = "Required value: is required for apply patch"
            wrong.append(("FieldValueRequired", "fieldManager", why))
        if not applied and "force" in query:
            why = "Forbidden: may not be specified for non-apply patch"
            wrong.append(("FieldValueForbidden", "force", why))
    if len(query.get("fieldManager", "")) > LONGEST_MANAGER:
        why = f"Too long: may not be more than {LONGEST_MANAGER} bytes"
        wrong.append(("FieldValueTooLong", "fieldManager", why))
    if query.get("dryRun", "All") != "All":
        wrong.append(_bad_dry_run([query["dryRun"]]))
    if wrong:
        raise invalid_options(kind, *wrong)


def check_deletion(options: Json) -> None:
    policies = ("Foreground", "Background", "Orphan")
    policy = options.get("propagationPolicy")
    wrong: list[Cause] = []
    if policy is not None and policy not in policies:
        known = ", ".join(f'"{name}"' for name in (*policies, "nil"))
        why = f'Unsupported value: "{policy}": supported values: {known}'
        wrong.append(("FieldValueNotSupported", "propagationPolicy", why))
    if options.get("dryRun") not in (None, [], ["All"]):
        wrong.append(_bad_dry_run(options["dryRun"]))
    if wrong:
        raise invalid_options("DeleteOptions", *wrong)


def _bad_dry_run(asked: list[str]) -> Cause:
    listed = " ".join(f'"{name}"' for name in asked)
    why = f'Unsupported value: [{listed}]: supported values: "All"'
    return "FieldValueNotSupported", "dryRun", why


def wrong_shape(metadata: Json) -> str:
    """What is wrong with the types of *metadata*, as Go would say; empty when nothing is."""
    for name in ("labels", "annotations"):
        given = metadata.get(name)
        if given is not None and not isinstance(given, dict):
            type_ = {list: "array", str: "string", bool: "bool"}.get(type(given), "number")
            return (
                f"json: cannot unmarshal {type_} into Go struct field"
                f" ObjectMeta.metadata.{name} of type map[string]string"
            )
    return ""
