"""What people see of the room that is kept free, as JSON."""

from typing import Any

from nemutator_common import names

from nemutator_controller.buffers.model import BufferState


def buffer_document(state: BufferState, *, most: int, now: float) -> dict[str, Any]:
    found = state.found
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Buffer",
        "most": most,
        "age_s": round(max(0.0, now - state.at), 1) if state.at else None,
        "policy": state.policy,
        "wanted": state.wanted,
        "why": state.why,
        "problem": state.problem,
        "pod": None
        if found is None
        else {"cpu_cores": found.cpu_cores, "memory_bytes": found.memory_bytes},
        "items": [
            {
                "kind": one.kind,
                "namespace": one.namespace,
                "name": one.name,
                "pods": one.pods,
            }
            for one in (() if found is None else found.objects)
        ],
    }
