"""ForecastScalers as an API server stores them; `model.py` decides whether one is sound."""

from typing import Any

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.objects import PolicyCondition
from nemutator_controller.scaling.model import GROUP, KIND, PLURAL, VERSION


class ForecastTexts(Shape, frozen=True, gc=False, omit_defaults=True):
    """Quantities of CPU as text; empty: not known."""

    now: str = ""
    ahead: str = ""
    upper: str = ""


class ScalerStatus(Shape, frozen=True, gc=False, omit_defaults=True):
    conditions: tuple[PolicyCondition, ...] = ()
    base: int | None = None
    wanted: int | None = None
    minimum: int | None = None
    opportunistic: int | None = None
    lead_seconds: int | None = None
    skill_percent: int | None = None
    forecast: ForecastTexts = ForecastTexts()
    why: str = ""


class ForecastScalerObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: ScalerStatus = ScalerStatus()


FORECAST_SCALERS = Resource(GROUP, VERSION, PLURAL, KIND, ForecastScalerObject)
