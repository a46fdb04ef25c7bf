"""Policies as people write them: YAML or JSON in, YAML out, and faults with their lines. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import structs

from nemutator_controller.editing.refusals import NotEditedError
from nemutator_controller.policies.model import API_VERSION, KIND, Spec
from nemutator_controller.yaml_documents import DocumentError, line_of, parsed, written

LARGEST = 64 << 10
"""Bytes: it is read in some tenths of a second, in which others have half of the processor."""

_UNKNOWN_FIELD = re.compile(r"unknown field `([A-Za-z0-9]+)`")


def document_of(name: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}


def policy_text(name: str, spec: Any) -> str:
    """As YAML: fields of the spec in the order in which they are explained, what is in them as it is stored."""
    if isinstance(spec, Mapping):
        known = [field.encode_name for field in structs.fields(Spec)]
        order = [*(key for key in known if key in spec), *(key for key in spec if key not in known)]
        spec = {key: spec[key] for key in order}
    return written(document_of(name, spec))


def read_policy(text: str) -> dict[str, Any]:
    """The one document in *text*; a `NotEditedError` says in which line something is wrong."""
    try:
        content = text.encode()
        if len(content) > LARGEST:
            raise NotEditedError(
                f"the policy: larger than {LARGEST} bytes", "split it, or use kubectl edit"
            )
        found = parsed(content)
    except UnicodeEncodeError as error:
        raise NotEditedError("the policy: half of a character", "type it anew") from error
    except DocumentError as error:
        raise NotEditedError(str(error), "correct this line: it is read as YAML") from error
    if len(found) != 1:
        raise NotEditedError(f"{len(found)} documents", "write one policy, without ---")
    [document] = found
    if not isinstance(document, dict):
        raise NotEditedError("line 1: expected apiVersion, kind, metadata and spec", "write these")
    return document


def with_lines(faults: Iterable[str], text: str) -> str:
    """*faults*, which begin with a field, with the lines of these fields in *text*."""
    content = text.encode()
    return "; ".join(_with_line(each, content) for each in faults)


def _with_line(fault: str, content: bytes) -> str:
    path = fault.partition(": ")[0]
    unknown = _UNKNOWN_FIELD.search(fault)
    line = line_of(content, path if unknown is None else f"{path}.{unknown[1]}")
    return fault if line is None else f"line {line}: {fault}"
