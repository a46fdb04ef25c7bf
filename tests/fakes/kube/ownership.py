"""`managedFields`: who last set which field, and server-side apply on top of it.

The form is the real one (FieldsV1); the rules are simplified where schemas would be needed: lists
are merged by the key that built-in kinds use for them and are otherwise one value.
"""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.statuses import ApiError

Json = dict[str, Any]
Step = str
Path = tuple[Step, ...]

_LIST_KEYS = {
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
_NOBODYS = {
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "name",
            "namespace",
            "resourceVersion",
            "uid",
        )
    ),
}


def note_write(manager: str, subresource: str, old: Json | None, new: Json) -> None:
    """Give what *new* changed to *manager*, and take it from everybody else."""
    before, after = dict(_leaves(old or {})), dict(_leaves(new))
    changed = {path for path, value in after.items() if before.get(path, _ABSENT) != value}
    removed = before.keys() - after.keys()
    entries = _entries((old or new)["metadata"])
    for entry in entries:
        _set_paths(entry, _paths(entry) - changed - removed)
    if changed:
        own = _entry(entries, manager, "Update", subresource, new["apiVersion"])
        _set_paths(own, _paths(own) | changed)
    _store_entries(new, entries)


def apply(
    kind: Kind, live: Json | None, wanted: Json, *, manager: str, subresource: str, force: bool
) -> Json:
    """*live* with what *manager* wants, less what it wanted before and no longer does."""
    base = copy.deepcopy(live) if live else {"metadata": {}}
    wants, has = dict(_leaves(wanted)), dict(_leaves(base))
    entries = _entries(base["metadata"])
    own = _entry(entries, manager, "Apply", subresource, kind.api_version)
    others = [entry for entry in entries if entry is not own]
    disputed = [
        (entry, path)
        for entry in others
        for path in sorted(_paths(entry) & wants.keys())
        if has.get(path, _ABSENT) != wants[path]
    ]
    if disputed and not force:
        raise _conflicts(disputed)
    dropped = _paths(own) - wants.keys()
    for entry in others:
        _set_paths(entry, _paths(entry) - {path for owner, path in disputed if owner is entry})
        dropped -= _paths(entry)
    merged: Json = _merged(base, wanted, "")
    # The field by which an item is found goes last.
    for path in sorted(dropped, key=_names_its_item):
        _cut(merged, path)
    _set_paths(own, set(wants))
    _store_entries(merged, entries)
    return merged


_ABSENT = object()


def _leaves(node: Any, path: Path = (), name: str = "") -> Iterator[tuple[Path, Any]]:
    """Each field with its value; lists that are merged by a key are walked like maps."""
    if path in _NOBODYS:
        return
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, (*path, f"f:{key}"), key)
    elif (key_name := _list_key(node, name)) is not None:
        for item in node:
            step = "k:" + json.dumps({key_name: item[key_name]}, separators=(",", ":"))
            yield from _leaves(item, (*path, step))
    elif path:
        yield path, node


def _list_key(node: Any, name: str) -> str | None:
    key = _LIST_KEYS.get(name)
    if key is None or not isinstance(node, list):
        return None
    return key if all(isinstance(item, dict) and key in item for item in node) else None


def _merged(old: Any, new: Any, name: str) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        fresh = {key: _merged(old.get(key), value, key) for key, value in new.items()}
        return {**old, **fresh}
    key = _list_key(new, name)
    if key is None or not isinstance(old, list):
        return copy.deepcopy(new)
    wanted = {item[key]: item for item in new}
    kept = [_merged(item, wanted.pop(item.get(key), item), "") for item in old]
    return kept + [copy.deepcopy(item) for item in wanted.values()]


def _cut(manifest: Json, path: Path) -> None:
    parents: list[tuple[Any, Any]] = []
    node: Any = manifest
    for step in path:
        index = _find(node, step)
        if index is None:
            return
        parents.append((node, index))
        node = node[index]
    for parent, index in reversed(parents):
        del parent[index]
        if parent:
            break


def _names_its_item(path: Path) -> bool:
    item, last = ("", *path)[-2:]
    return item.startswith("k:") and last[2:] in json.loads(item[2:])


def _find(node: Any, step: Step) -> Any:
    if step.startswith("f:"):
        return step[2:] if isinstance(node, dict) and step[2:] in node else None
    if not isinstance(node, list):
        return None
    wanted = json.loads(step[2:])
    return next((i for i, item in enumerate(node) if wanted.items() <= item.items()), None)


def _conflicts(disputed: list[tuple[Json, Path]]) -> ApiError:
    fields: dict[str, list[str]] = {}
    for entry, path in disputed:
        fields.setdefault(_owner(entry), []).append("".join(map(_shown, path)))
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": field}
        for owner in fields
        for field in fields[owner]
    ]
    if len(causes) == 1:
        what = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        listed = (
            "\n- ".join([f"conflicts with {owner}:", *fields[owner]]) for owner in sorted(fields)
        )
        what = f"{len(causes)} conflicts: " + "\n".join(listed)
    message = f"Apply failed with {what}"
    return ApiError(409, "Conflict", message, details={"causes": causes})


def _owner(entry: Json) -> str:
    """Who applies is named by the name alone; who updates, with the version that was used."""
    below = f' with subresource "{entry["subresource"]}"' if entry.get("subresource") else ""
    version = f" using {entry['apiVersion']}" if entry["operation"] == "Update" else ""
    return f'"{entry["manager"]}"{below}{version}'


def _shown(step: Step) -> str:
    if step.startswith("f:"):
        return f".{step[2:]}"
    ((key, value),) = json.loads(step[2:]).items()
    return f"[{key}={json.dumps(value)}]"


def _entries(metadata: Json) -> list[Json]:
    return copy.deepcopy(metadata.get("managedFields") or [])


def _entry(
    entries: list[Json], manager: str, operation: str, subresource: str, api_version: str
) -> Json:
    for entry in entries:
        if (entry["manager"], entry["operation"]) == (manager, operation) and entry.get(
            "subresource", ""
        ) == subresource:
            return entry
    entry = {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {},
        **({"subresource": subresource} if subresource else {}),
    }
    entries.append(entry)
    return entry


def _paths(entry: Json) -> set[Path]:
    def walk(node: Json, path: Path) -> Iterator[Path]:
        if not node:
            yield path
        for step, below in node.items():
            if step != ".":
                yield from walk(below, (*path, step))

    return set(walk(entry["fieldsV1"], ())) - {()}


def _set_paths(entry: Json, paths: set[Path]) -> None:
    if paths == _paths(entry):
        return
    tree: Json = {}
    for path in sorted(paths):
        node = tree
        for step in path:
            node = node.setdefault(step, {})
            if step.startswith("k:"):
                node["."] = {}
    entry["fieldsV1"] = tree
    entry["time"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _store_entries(manifest: Json, entries: list[Json]) -> None:
    manifest["metadata"]["managedFields"] = [entry for entry in entries if entry["fieldsV1"]]
