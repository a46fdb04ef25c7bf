"""Applies the status of one policy of any kind, and counts and logs what comes of it."""

import logging
from typing import Any, Literal

from nemutator_common import names
from nemutator_common.names import Metric
from nemutator_common.process import Process

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import ConflictError, KubeError, NotFoundError
from nemutator_controller.kube.objects import Metadata
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.writing import Json, OnlyIf, Writer

log = logging.getLogger(__name__)

NotApplied = Literal["gone", "failed"]
"""gone: there is no policy of the name any more, or another one; the watch will show it."""


async def apply_status(
    writer: Writer,
    resource: Resource[Any],
    policy: Metadata,
    status: Json,
    *,
    counted: Metric,
    process: Process,
) -> bytes | NotApplied:
    """The policy as the API server has it now, or why it has not this status."""
    try:
        body = await writer.apply(
            resource,
            policy.namespace,
            policy.name,
            {"status": status},
            only_if=OnlyIf(uid=policy.uid),
            subresource="status",
            force=True,
        )
    except (NotFoundError, ConflictError):
        return "gone"
    except (KubeError, OverBudgetError) as error:
        process.meter.count(counted, result="failed")
        log.warning("policy_status_not_written", {names.OBJECT: policy.name, names.ERROR: error})
        return "failed"
    process.meter.count(counted, result="written")
    return body
