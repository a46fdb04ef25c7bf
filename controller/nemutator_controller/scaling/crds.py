"""The CustomResourceDefinition of ForecastScaler, made from the typed model and what it cannot express."""

from nemutator_controller.policies.crds import SchemaWords, column, definition_of, schema_of
from nemutator_controller.policies.schema_bounds import Schema
from nemutator_controller.scaling.model import KIND, PLURAL, ScalerSpec

LONGEST_WHY = 500

_MEANINGS = {
    "ScalerSpec.target": (
        "The HorizontalPodAutoscaler of the same namespace whose minReplicas rises before what is foreseen."
    ),
    "ScalerSpec.mode": "Preview computes and shows, and changes nothing. Apply raises the minimum.",
    "ScalerSpec.minReplicas": (
        "The minimum is never below this in mode Apply, whatever is foreseen. Absent: what the"
        " HorizontalPodAutoscaler says."
    ),
    "ScalerSpec.maxReplicas": "What is foreseen raises the minimum no further.",
    "ScalerSpec.follow": (
        "Which line of the forecast counts: Upper is the end of its interval above which one of twenty values is"
        " expected, Expected its middle."
    ),
    "ScalerSpec.marginPercent": "So much more than that line.",
    "ScalerSpec.leadSeconds": (
        "How far ahead is looked: so long do new pods take until they carry load. Absent: as it was measured, and at"
        " least brain.season_lead_s."
    ),
    "ScalerSpec.opportunistic": (
        "Publish how many replicas the spare CPU of the cluster has room for, as nemutator_opportunistic_replicas."
    ),
    "ScalerSpec.guard": "Forbids growth of the minimum while a query says so, or does not answer.",
    "OpportunisticShare.sharePercent": "Of the spare CPU, at most so much for this one.",
    "OpportunisticShare.priority": "Higher ones are served first; equal ones share fairly.",
    "GrowthGuard.query": "PromQL, asked of the Prometheus that brain.prometheus names.",
    "GrowthGuard.above": "The minimum does not grow while any value of the query is above this.",
}

_WHOLE: Schema = {"type": "integer", "format": "int32"}
_AMOUNT: Schema = {"type": "string", "maxLength": 64}

_STATUS: dict[str, Schema] = {
    "base": {**_WHOLE, "description": "The minimum without any forecast."},
    "wanted": {**_WHOLE, "description": "The minimum that the forecast asks for."},
    "minimum": {**_WHOLE, "description": "What the HorizontalPodAutoscaler has now."},
    "opportunistic": {**_WHOLE, "description": "Replicas for which there is room."},
    "leadSeconds": {**_WHOLE, "description": "How far ahead was looked."},
    "skillPercent": {
        **_WHOLE,
        "description": "How much better than a median held-out days were foretold; 100: without any error.",
    },
    "forecast": {
        "type": "object",
        "description": "CPU of the workload.",
        "properties": {
            "now": {**_AMOUNT, "description": "Expected now."},
            "ahead": {**_AMOUNT, "description": "The most that is expected within the lead."},
            "upper": {**_AMOUNT, "description": "The upper end of its interval."},
        },
    },
    "why": {
        "type": "string",
        "maxLength": LONGEST_WHY,
        "description": "Why the minimum is what it is.",
    },
}

WORDS = SchemaWords(
    meanings=_MEANINGS,
    bounds={},
    defaults={"ScalerSpec.mode": "Preview"},
    rules={
        "ScalerSpec": (
            (
                "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
                "minReplicas is above maxReplicas",
            ),
        ),
    },
)


def scaler_definition() -> Schema:
    """The whole object, as it is applied to a cluster."""
    return definition_of(
        KIND,
        PLURAL,
        schema_of(ScalerSpec, WORDS),
        meaning="Has the minimum of a HorizontalPodAutoscaler rise before what is foreseen; every change is logged and can be undone.",
        scope="Namespaced",
        columns=[
            column("Target", "string", ".spec.target"),
            column("Base", "integer", ".status.base"),
            column("Wanted", "integer", ".status.wanted"),
            column("Minimum", "integer", ".status.minimum"),
            column("Raised", "string", '.status.conditions[?(@.type=="Raised")].reason'),
        ],
        status=_STATUS,
    )
