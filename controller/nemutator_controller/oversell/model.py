"""NodeOversell, the custom resource, and the faults that one can have.

The typed model is the one source: the CustomResourceDefinition is made from it (`crds.py`). Policies are
checked here again, because the API server may have stored one before it had this schema.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.kube.label_selectors import Selector
from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations import pod_selectors
from nemutator_controller.mutations.pod_selectors import LabelSelector
from nemutator_controller.oversell.ratios import hundredths_of
from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.model import PolicyError, selector_of

GROUP = names.DOMAIN
VERSION = "v1alpha1"
KIND = "NodeOversell"
PLURAL = "nodeoversells"

AmountText = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A misspelt field is an error, because ignoring it would silently do less than was asked."""


class OversellBounds(_Strict, frozen=True):
    """How busy a node may be."""

    cpu_percent: Annotated[int, msgspec.Meta(ge=10, le=100)] = 70
    """Of what it has, up to which 95 of 100 minutes may use its CPU once all of the ratio is requested."""
    waiting_percent: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    """Of the last five minutes, in which some task of it waits for CPU (PSI)."""


class OversellSpec(_Strict, frozen=True):
    max_cpu_ratio: Annotated[float, msgspec.Meta(ge=1.0, le=2.0)] = msgspec.field(
        name="maxCPURatio"
    )
    node_selector: LabelSelector = LabelSelector()
    mode: Literal["Preview", "Apply"] = "Preview"
    """Preview decides and shows, and changes nothing."""
    pressure: OversellBounds = OversellBounds()
    reserve: AmountText | None = None
    """CPU of each node that is never promised."""


class SoundOversell(msgspec.Struct, frozen=True, kw_only=True):
    """A NodeOversell without faults."""

    name: str
    nodes: Selector
    asked: int
    """The ratio in hundredths."""
    mode: Literal["Preview", "Apply"]
    bounds: OversellBounds = OversellBounds()
    reserve_millis: int = 0


def oversell_of(name: str, spec: Any) -> SoundOversell:
    """The policy *name* with the decoded *spec*, or a `PolicyError` that names every fault."""
    try:
        typed = msgspec.convert(spec, OversellSpec)
    except msgspec.ValidationError as error:
        fault = explained(str(error), spec, OversellSpec, root="spec")
        raise PolicyError((f"{fault}; see kubectl explain {PLURAL}.spec"[:512],)) from error
    except RecursionError as error:
        raise PolicyError(("spec: nested too deeply",)) from error
    if faults := tuple(_faults(typed)):
        raise PolicyError(faults)
    return SoundOversell(
        name=name,
        nodes=selector_of(typed.node_selector),
        asked=hundredths_of(typed.max_cpu_ratio),
        mode=typed.mode,
        bounds=typed.pressure,
        reserve_millis=0 if typed.reserve is None else parse_quantity(typed.reserve).to_millis(),
    )


def _faults(spec: OversellSpec) -> Iterator[str]:
    for fault in pod_selectors.faults(spec.node_selector):
        yield f"spec.nodeSelector.{fault}"
    if spec.reserve is not None:
        try:
            if parse_quantity(spec.reserve).nanos < 0:
                yield "spec.reserve: expected no less than 0"
        except QuantityError as error:
            yield f"spec.reserve: {error}"
