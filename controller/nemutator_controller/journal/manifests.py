"""Checks of the manifests that are applied where there is no cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from nemutator_controller.journal.container_faults import container_faults
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.model import KIND, PolicyError, policy_from_document
from nemutator_controller.policies.season_policies import (
    SEASON_API_VERSION,
    SEASON_KIND,
    season_policy_of,
)

DEFAULT_NAMESPACE = "default"
LONGEST_NAME = 253

LARGEST = 1 << 20
"""Bytes of one manifest, as it is sent and as it is stored."""

DEEPEST = 64
"""Levels of lists and objects: a manifest is walked through by recursion."""


class ManifestError(ValueError):
    """The manifest cannot be applied; `faults` name each field and what was expected."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Manifest:
    subject: Subject
    document: Mapping[str, Any]

    @property
    def is_policy(self) -> bool:
        return self.subject.kind in (KIND, SEASON_KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    subject: Subject
    outcome: Literal["created", "changed", "unchanged"]
    decision: str = ""
    """The id of what was changed in it; empty when nothing was."""
    edits: tuple[Edit, ...] = ()
    previewed: tuple[Edit, ...] = ()
    warnings: tuple[str, ...] = ()


def read_manifest(body: bytes) -> object:
    """The document in *body*; raises `ManifestError` when it is not JSON, too large or too deep."""
    if len(body) > LARGEST:
        raise ManifestError((f"the document: larger than {LARGEST} bytes",))
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ManifestError((f"the document: not JSON: {str(error)[:200]}",)) from error
    if _is_deep(document, DEEPEST):
        raise ManifestError((f"the document: nested more than {DEEPEST} levels deep",))
    return document


def body_of(document: Mapping[str, Any]) -> bytes:
    """*document* as it is stored: readable for people, unless only the compact form is small enough.

    Raises `ManifestError` when that is too large as well.
    """
    close = msgspec.json.encode(document)
    if len(close) >= LARGEST:
        raise ManifestError((f"with the changes of policies it is larger than {LARGEST} bytes",))
    readable = msgspec.json.format(close, indent=2)
    return (readable if len(readable) < LARGEST else close) + b"\n"


def manifest_of(document: object, *, may_be_unnamed: bool = False) -> Manifest:
    """*document* as a manifest, or a `ManifestError` that names every fault.

    *may_be_unnamed*: the beginning of a name is enough, as to an API server, which ends it.
    """
    if not isinstance(document, dict):
        raise ManifestError(("the document: expected an object with apiVersion and kind",))
    kind = document.get("kind")
    if kind == KIND:
        try:
            policy = policy_from_document(document)
        except PolicyError as error:
            raise ManifestError(error.faults) from error
        return Manifest(_subject(document, namespace="", name=policy.name), document)
    if kind == SEASON_KIND:
        return _brain(document)
    metadata = document.get("metadata")
    faults = []
    if not isinstance(document.get("apiVersion"), str):
        faults.append("apiVersion: expected one like v1 or apps/v1")
    if not isinstance(kind, str) or kind not in TEMPLATES:
        faults.append(f"kind: expected {KIND}, {SEASON_KIND} or one of {', '.join(TEMPLATES)}")
    if not isinstance(metadata, dict):
        metadata = {}
        faults.append("metadata: expected an object with a name")
    namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
    name, begins = metadata.get("name"), metadata.get("generateName")
    called = ("name", name)
    if may_be_unnamed and begins and not name:
        name, called = "", ("generateName", begins)
    for field, word in (("namespace", namespace), called):
        if not isinstance(word, str) or not 0 < len(word) <= LONGEST_NAME:
            is_begun = field == "name" and begins and not name
            why = ": only an API server makes one of generateName" if is_begun else ""
            if isinstance(word, int | float):
                # YAML reads `name: 12` and `name: yes` so.
                why = " of text, so write it in quotes"
            faults.append(f"metadata.{field}: expected 1 to {LONGEST_NAME} characters{why}")
    if not isinstance(document.get("spec"), dict):
        faults.append("spec: expected an object")
    elif isinstance(kind, str) and kind in TEMPLATES:
        faults += container_faults(document, kind)
    if faults:
        raise ManifestError(tuple(faults))
    subject = _subject(document, namespace=str(namespace), name=str(name))
    return Manifest(subject if name else replace(subject, generate_name=str(begins)), document)


def _brain(document: Mapping[str, Any]) -> Manifest:
    if document.get("apiVersion") != SEASON_API_VERSION:
        raise ManifestError((f"apiVersion: expected {SEASON_API_VERSION}",))
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise ManifestError((f"metadata.name: expected 1 to {LONGEST_NAME} characters",))
    try:
        season_policy_of(name, document.get("spec"))
    except PolicyError as error:
        raise ManifestError(error.faults) from error
    return Manifest(_subject(document, namespace="", name=name), document)


def _is_deep(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(_is_deep(each, levels - 1) for each in inner)


def _subject(document: Mapping[str, Any], *, namespace: str, name: str) -> Subject:
    kind = str(document["kind"])
    return Subject(
        api_version=str(document["apiVersion"]),
        kind=kind,
        namespace=namespace,
        name=name,
        owner_kind="" if kind == "Pod" else kind,
        owner_name="" if kind == "Pod" else name,
    )
