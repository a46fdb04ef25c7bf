"""How a request ends that could not be decided: its pod is let in unchanged, with a warning and a counted reason.

The one exception is a pod that says itself that it must not run without us.
"""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.outcomes import ANSWER_S, FailedError, Result, Rules
from nemutator_controller.admission.reviews import (
    AdmissionRequest,
    AdmissionResponse,
    ReviewError,
    head_of,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Excuses:
    rules: Rules
    process: Process

    def of(self, request: AdmissionRequest, error: Exception) -> tuple[Result, AdmissionResponse]:
        """How *request* ends after *error*."""
        match error:
            case FailedError():
                return self._failed(request, error.reason, str(error))
            case NotSavedError():
                why = f"the change could not be recorded: {error}"
                return self._failed(request, error.reason, why)
            case TimeoutError():
                return self._failed(request, "late", f"the disk took more than {ANSWER_S:g} s")
        log.error("admission_failed", {names.REASON: "internal"}, exc_info=error)
        return self._failed(request, "internal", "a defect of nemutator: admission's log has it")

    def _failed(
        self, request: AdmissionRequest, reason: str, why: str
    ) -> tuple[Result, AdmissionResponse]:
        self.process.meter.count(names.ADMISSION_FAILURES, reason=reason)
        log.warning("pod_not_decided", {names.REASON: reason, names.ERROR: why[:200]})
        if self.rules.injector is not None and requires_us(request):
            refused = f"{names.INJECT}=required, and this pod cannot be injected: {why}"
            return "denied", AdmissionResponse(refused=refused)
        return "failed", AdmissionResponse(warnings=(f"pod left as it is: {why}",))


def requires_us(request: AdmissionRequest) -> bool:
    """Whether the pod says itself that it must not run without us."""
    try:
        labels = head_of(request)["metadata"]["labels"]
    except (ReviewError, KeyError, TypeError):
        return False
    return isinstance(labels, dict) and labels.get(names.INJECT) == "required"
