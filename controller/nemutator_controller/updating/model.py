"""SizingPolicy, the custom resource, and the faults that one can have.

The typed model is the one source: the CustomResourceDefinition is made from it (`crds.py`). Policies are
checked here again, because the API server may have stored one before it had this schema.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.kube.label_selectors import Selector
from nemutator_controller.kube.quantities import Quantity, QuantityError, parse_quantity
from nemutator_controller.mutations import pod_selectors
from nemutator_controller.mutations.pod_selectors import LabelSelector
from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.model import Globs, PolicyError, selector_of
from nemutator_controller.policies.time_windows import When, when_faults

GROUP = names.DOMAIN
VERSION = "v1alpha1"
KIND = "SizingPolicy"
PLURAL = "sizingpolicies"

AmountText = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A misspelt field is an error, because ignoring it would silently do less than was asked."""


class SizedWorkloads(_Strict, frozen=True):
    """Which pods a policy is for: all given fields must match."""

    namespaces: Globs = ()
    excluded_namespaces: Globs = ()
    names: Globs = ()
    """Globs on the name of the workload that makes the pod."""
    excluded_names: Globs = ()
    kinds: Globs = ()
    """Kinds of that workload, such as Deployment."""
    pod_selector: LabelSelector = LabelSelector()


class SizedResource(_Strict, frozen=True):
    enabled: bool = True
    min: AmountText | None = None
    """What is given is not less."""
    max: AmountText | None = None
    largest_step_percent: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = None
    """One change is at most so much more, and as many times less: 100, which is meant where it is absent, doubles or halves. Absent,
    Hourly may change eleven times as much."""
    strategy: Literal["Advice", "Hourly"] = "Advice"
    """Advice stands for weeks. Hourly follows use by the hour, up and down, four times in 24 hours: CPU alone."""


class SizedContainers(_Strict, frozen=True):
    """What is changed, by resource."""

    containers: Globs = ()
    """Globs on names of containers; empty: all. Init containers are left alone."""
    cpu: SizedResource = SizedResource()
    memory: SizedResource = SizedResource()


class SizingSpec(_Strict, frozen=True):
    match: SizedWorkloads = SizedWorkloads()
    mode: Literal["Off", "Initial", "InPlace", "Evict"] = "Off"
    """Off decides and shows, and changes nothing. Initial gives new pods what is advised. InPlace resizes pods that
    run as well, and evicts none. Evict does so where a resize is not possible."""
    resources: SizedContainers = SizedContainers()
    min_replicas: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    """Of a workload with fewer pods that run, none is changed."""
    settled_seconds: Annotated[int, msgspec.Meta(ge=0, le=31_536_000)] = 43_200
    """A pod that has not run for so long is changed only when it is out of the advice's bounds."""
    cool_down_seconds: Annotated[int, msgspec.Meta(ge=60, le=31_536_000)] = 3_600
    """Between two changes of one pod."""
    changes_per_minute: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    """Pods of all workloads together."""
    pods_at_once: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 1
    """Of one workload, whose change kubelet has not made yet."""
    when: When | None = None
    """Absent: always."""


class ResourceLimits(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's bounds of one resource, in nanos as quantities are."""

    least: int | None
    most: int | None


class SoundSizing(msgspec.Struct, frozen=True, kw_only=True):
    """A SizingPolicy without faults."""

    name: str
    spec: SizingSpec
    pods: Selector
    cpu: ResourceLimits
    memory: ResourceLimits


def sizing_of(name: str, spec: Any) -> SoundSizing:
    """The policy *name* with the decoded *spec*, or a `PolicyError` that names every fault."""
    try:
        typed = msgspec.convert(spec, SizingSpec)
    except msgspec.ValidationError as error:
        fault = explained(str(error), spec, SizingSpec, root="spec")
        raise PolicyError((f"{fault}; see kubectl explain {PLURAL}.spec"[:512],)) from error
    except RecursionError as error:
        raise PolicyError(("spec: nested too deeply",)) from error
    if faults := tuple(_faults(typed)):
        raise PolicyError(faults)
    resources = typed.resources
    return SoundSizing(
        name=name,
        spec=typed,
        pods=selector_of(typed.match.pod_selector),
        cpu=_limits(resources.cpu),
        memory=_limits(resources.memory),
    )


def _faults(spec: SizingSpec) -> Iterator[str]:
    for fault in pod_selectors.faults(spec.match.pod_selector):
        yield f"spec.match.podSelector.{fault}"
    yield from (f"spec.when{fault}" for fault in when_faults(spec.when))
    if spec.resources.memory.strategy == "Hourly":
        yield "spec.resources.memory.strategy: Hourly is for CPU alone"
    if spec.resources.cpu.strategy == "Hourly" and spec.mode not in ("Off", "InPlace"):
        yield "spec.resources.cpu.strategy: Hourly expects the mode InPlace, or Off to see what it would do"
    for word, resource in (("cpu", spec.resources.cpu), ("memory", spec.resources.memory)):
        amounts: list[Quantity] = []
        for field, text in (("min", resource.min), ("max", resource.max)):
            if text is None:
                continue
            try:
                amount = parse_quantity(text)
            except QuantityError as error:
                yield f"spec.resources.{word}.{field}: {error}"
                continue
            if amount.nanos <= 0:
                yield f"spec.resources.{word}.{field}: expected more than 0"
            amounts.append(amount)
        if len(amounts) == 2 and amounts[0] > amounts[1]:
            yield f"spec.resources.{word}: min is above max"


def _limits(resource: SizedResource) -> ResourceLimits:
    return ResourceLimits(
        least=None if resource.min is None else parse_quantity(resource.min).nanos,
        most=None if resource.max is None else parse_quantity(resource.max).nanos,
    )
