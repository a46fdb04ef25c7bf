"""Answers a request about the status of a node: by a rule that needs nothing but the request, and without a patch when in doubt."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.ports import NodeStatusRule
from nemutator_controller.admission.reviews import (
    LARGEST_OBJECT,
    UNCHANGED,
    AdmissionRequest,
    AdmissionResponse,
    printable,
)

log = logging.getLogger(__name__)


class ReviewedNode(msgspec.Struct, frozen=True, gc=False):
    """The `WrittenNode` of a review."""

    name: str
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    capacity: Mapping[str, str] = {}
    allocatable: Mapping[str, str] = {}


class _Metadata(msgspec.Struct, frozen=True):
    name: str
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None


class _Amounts(msgspec.Struct, frozen=True):
    capacity: Mapping[str, str] | None = None
    allocatable: Mapping[str, str] | None = None


class _Node(msgspec.Struct, frozen=True):
    metadata: _Metadata
    status: _Amounts | None = None


_decoder = msgspec.json.Decoder(_Node)


class _BadNodeError(ValueError):
    """It is not a node, or is too large."""


@dataclass(frozen=True, slots=True)
class NodeStatusHandler:
    rule: NodeStatusRule
    process: Process

    def answer(self, request: AdmissionRequest) -> AdmissionResponse:
        """Always allowed: a node whose status cannot be written is lost."""
        try:
            result, response = self._answered(request)
        except _BadNodeError as error:
            log.warning("node_status_left", {names.ERROR: printable(str(error), 200)})
            result, response = "bad_object", UNCHANGED
        except Exception:
            log.exception("node_status_left")
            result, response = "internal", UNCHANGED
        self.process.meter.count(names.NODE_STATUSES, result=result)
        return response

    def _answered(self, request: AdmissionRequest) -> tuple[str, AdmissionResponse]:
        asked = request.resource
        if (
            request.operation != "UPDATE"
            or (asked.group, asked.version, asked.resource) != ("", "v1", "nodes")
            or request.sub_resource != "status"
        ):
            return "not_a_status", UNCHANGED
        before, after = _node(request.old_object), _node(request.object)
        if not after.name or (before.name, request.name) != (after.name, after.name):
            raise _BadNodeError("it is about two nodes")
        change = self.rule(request.user, before, after)
        return change.result, AdmissionResponse(operations=change.operations)


def _node(content: msgspec.Raw) -> ReviewedNode:
    if len(content) > LARGEST_OBJECT:
        raise _BadNodeError(f"it has more than {LARGEST_OBJECT} bytes")
    try:
        found = _decoder.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError) as error:
        raise _BadNodeError(str(error)) from None
    status = found.status or _Amounts()
    return ReviewedNode(
        name=found.metadata.name,
        labels=found.metadata.labels or {},
        annotations=found.metadata.annotations or {},
        capacity=status.capacity or {},
        allocatable=status.allocatable or {},
    )
