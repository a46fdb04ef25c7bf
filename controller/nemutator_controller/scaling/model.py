"""ForecastScaler, the custom resource, and the faults that one can have.

The typed model is the one source: the CustomResourceDefinition is made from it (`crds.py`). Objects are checked here
again, because the API server may have stored one before it had this schema.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.model import PolicyError

GROUP = names.DOMAIN
VERSION = "v1alpha1"
KIND = "ForecastScaler"
PLURAL = "forecastscalers"

MOST_REPLICAS = 100_000

AutoscalerName = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
Replicas = Annotated[int, msgspec.Meta(ge=1, le=MOST_REPLICAS)]
QueryText = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A misspelt field is an error, because ignoring it would silently do less than was asked."""


class OpportunisticShare(_Strict, frozen=True):
    """Replicas beyond the minimum for which there is spare CPU; they are published, and nothing is changed by them."""

    share_percent: Annotated[int, msgspec.Meta(ge=1, le=100)] = 100
    """Of the spare CPU of the cluster, at most."""
    priority: Annotated[int, msgspec.Meta(ge=-1_000, le=1_000)] = 0
    """Higher ones are served first."""


class GrowthGuard(_Strict, frozen=True):
    """What forbids growth, such as the latency of the database behind the workload."""

    query: QueryText
    """Asked of the brain's Prometheus."""
    above: float
    """No growth while any of its values is above this."""


class ScalerSpec(_Strict, frozen=True):
    target: AutoscalerName
    """A HorizontalPodAutoscaler of the same namespace."""
    mode: Literal["Preview", "Apply"] = "Preview"
    min_replicas: Replicas | None = None
    """The minimum is never below this, whatever is foreseen."""
    max_replicas: Replicas | None = None
    """What is foreseen raises it no further; the HorizontalPodAutoscaler's own maximum holds as well."""
    follow: Literal["Upper", "Expected"] = "Upper"
    """Which line of the forecast: the upper end of its interval, or its middle."""
    margin_percent: Annotated[int, msgspec.Meta(ge=0, le=400)] = 0
    """More than that line."""
    lead_seconds: Annotated[int, msgspec.Meta(ge=15, le=14_400)] | None = None
    """Absent: as seasons measure how long its pods take until they are ready."""
    opportunistic: OpportunisticShare | None = None
    guard: GrowthGuard | None = None


class SoundScaler(msgspec.Struct, frozen=True, kw_only=True):
    """A ForecastScaler without faults."""

    namespace: str
    name: str
    uid: str
    spec: ScalerSpec

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def target(self) -> tuple[str, str]:
        return self.namespace, self.spec.target


def scaler_of(namespace: str, name: str, uid: str, spec: Any) -> SoundScaler:
    """The object with the decoded *spec*, or a `PolicyError` that names every fault."""
    try:
        typed = msgspec.convert(spec, ScalerSpec)
    except msgspec.ValidationError as error:
        fault = explained(str(error), spec, ScalerSpec, root="spec")
        raise PolicyError((f"{fault}; see kubectl explain {PLURAL}.spec"[:512],)) from error
    except RecursionError as error:
        raise PolicyError(("spec: nested too deeply",)) from error
    if faults := tuple(_faults(typed)):
        raise PolicyError(faults)
    return SoundScaler(namespace=namespace, name=name, uid=uid, spec=typed)


def _faults(spec: ScalerSpec) -> Iterator[str]:
    low, high = spec.min_replicas, spec.max_replicas
    if low is not None and high is not None and low > high:
        yield "spec: minReplicas is above maxReplicas"
    # JSON has no such number, but not everything that is decoded was JSON.
    if spec.guard is not None and not -1e300 < spec.guard.above < 1e300:
        yield "spec.guard.above: expected a number"
