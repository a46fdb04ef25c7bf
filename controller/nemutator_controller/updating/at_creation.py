"""What a SizingPolicy says of pods when they are created: the same amounts within the same bounds, as a policy that
admission follows: pure.

So a pod that comes after one that was resized is not the size that its workload says. Steps and cool-downs are for
pods that run, and do not count here; `when` does. While a season holds resizes back, new pods have the sizes of those
that run: under Initial what their workload says, else what is advised.
"""

from typing import Any

import msgspec
from nemutator_common.admission_snapshots import SIZING_PREFIX

from nemutator_controller.policies.model import Policy, PolicyError, policy_of
from nemutator_controller.policies.snapshot import silent
from nemutator_controller.updating.model import SizedResource, SoundSizing, sizing_of
from nemutator_controller.updating.selection import SYSTEM


def policy_at_creation(name: str, spec: Any) -> Policy | None:
    """None: it has faults, which the brain tells. One that says nothing of its pods is the one that they follow."""
    try:
        sizing = sizing_of(name, spec)
        requests = _requests(sizing)
        # An amount is asked for in any case, because no policy is without one.
        made = policy_of(
            f"{SIZING_PREFIX}{name}", _spec(sizing, requests or {"cpu": {"advice": True}})
        )
    except PolicyError:
        return None
    mode = sizing.spec.mode
    made = msgspec.structs.replace(made, alone=True, held_with_resizes=mode == "Initial")
    return made if requests and mode != "Off" else silent(made)


def _spec(sizing: SoundSizing, requests: dict[str, Any]) -> dict[str, Any]:
    match = sizing.spec.match
    resources: dict[str, Any] = {"requests": requests}
    if sizing.spec.resources.containers:
        resources["containers"] = list(sizing.spec.resources.containers)
    when = sizing.spec.when
    return {
        **({} if when is None else {"when": msgspec.to_builtins(when)}),
        "match": {
            "namespaces": list(match.namespaces),
            "excludedNamespaces": [*match.excluded_namespaces, *sorted(SYSTEM)],
            "names": list(match.names),
            "excludedNames": list(match.excluded_names),
            "ownerKinds": list(match.kinds),
            "podSelector": msgspec.to_builtins(match.pod_selector),
        },
        "mode": "Apply",
        "mutations": [{"resources": resources}],
    }


def _requests(sizing: SoundSizing) -> dict[str, Any]:
    resources = sizing.spec.resources
    found: dict[str, Any] = {}
    if resources.cpu.enabled:
        found["cpu"] = _amount(resources.cpu)
    if resources.memory.enabled:
        # As in pods that run: a container that needs more than its limit would be killed.
        found["memory"] = {**_amount(resources.memory), "raiseLimit": True}
    return found


def _amount(resource: SizedResource) -> dict[str, Any]:
    bounds = {"min": resource.min, "max": resource.max}
    return {"advice": True, **{word: text for word, text in bounds.items() if text is not None}}
