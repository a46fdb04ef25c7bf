"""The CustomResourceDefinition of SizingPolicy, made from the typed model and what it cannot express."""

from nemutator_controller.kube import quantities
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.policies.crds import (
    MUTATION_WORDS,
    SchemaWords,
    column,
    definition_of,
    schema_of,
)
from nemutator_controller.policies.schema_bounds import Schema
from nemutator_controller.updating.model import KIND, PLURAL, SizingSpec
from nemutator_controller.updating.records import RESOURCES
from nemutator_controller.updating.status_advice import (
    LONGEST_NAME,
    LONGEST_REASON,
    MOST_CONTAINERS,
    MOST_WORKLOADS,
)

_AMOUNT: Schema = {"pattern": QUANTITY.pattern, "maxLength": min(quantities.LONGEST, 64)}

_LABELS = ("LabelSelector", "Expression", "When", "TimeWindow", "SeasonOf")
"""Structs of MutationPolicy that are part of this, with what is said of them there."""

_MEANINGS = {
    "SizingSpec.match": "Which pods: all that is given must fit; empty: every pod.",
    "SizingSpec.mode": (
        "Off decides and shows, and changes nothing. Initial gives new pods what is advised. InPlace resizes pods"
        " that run as well. Evict evicts those whose resize is not possible."
    ),
    "SizingSpec.resources": "What is changed, and within which bounds.",
    "SizingSpec.minReplicas": "Of a workload with fewer pods that run, none is changed.",
    "SizingSpec.settledSeconds": "A younger pod is changed only when it is out of the advice's bounds.",
    "SizingSpec.coolDownSeconds": "Between two changes of one pod.",
    "SizingSpec.changesPerMinute": "Pods of all workloads together.",
    "SizingSpec.podsAtOnce": "Of one workload, whose change kubelet has not made yet.",
    "SizingSpec.when": "At which times and in which seasons pods are changed; always, if this is absent.",
    "SizedWorkloads.namespaces": "Globs on names of namespaces, like team-*.",
    "SizedWorkloads.excludedNamespaces": "Globs; a namespace that one of them names is left alone.",
    "SizedWorkloads.names": "Globs on the name of the workload that makes the pod.",
    "SizedWorkloads.excludedNames": "Globs; what one of them names is left alone.",
    "SizedWorkloads.kinds": "Kinds of that workload, like Deployment.",
    "SizedWorkloads.podSelector": "On labels of the pod.",
    "SizedContainers.containers": "Globs on names of containers; empty: all. Init containers are left alone.",
    "SizedResource.enabled": "False leaves this resource alone.",
    "SizedResource.min": "Not less than this quantity.",
    "SizedResource.max": "Not more than this quantity.",
    "SizedResource.largestStepPercent": (
        "One change is at most so much more: 100, which is meant where it is absent, doubles or halves. With Hourly it is"
        " 1000 where it is absent."
    ),
    "SizedResource.strategy": (
        "Advice stands for weeks. Hourly, for CPU and the modes InPlace and Off alone, follows use by the hour, up and"
        " down, four times in 24 hours; until it is known well enough, and while it is not, advice holds."
    ),
}

_POSITIVE = tuple(
    (
        f"!has(self.{field}) || quantity(self.{field}).isGreaterThan(quantity('0'))",
        f"{field}: expected more than 0",
    )
    for field in ("min", "max")
)

_NAME_TEXT: Schema = {"type": "string", "maxLength": LONGEST_NAME}
_TEXT_AMOUNTS: Schema = {
    "type": "object",
    "properties": {name: {"type": "string", "maxLength": 64} for name in RESOURCES},
}
_RECOMMENDED: Schema = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _NAME_TEXT,
        "firm": {"type": "boolean", "description": "Whether there is data enough to change a pod."},
        "requested": {**_TEXT_AMOUNTS, "description": "What a pod of it requests now."},
        "target": {**_TEXT_AMOUNTS, "description": "What is advised."},
        "lowerBound": {**_TEXT_AMOUNTS, "description": "What requests less is too small."},
        "upperBound": {**_TEXT_AMOUNTS, "description": "What requests more is too large."},
        "strategy": {
            **_TEXT_AMOUNTS,
            "description": "Which strategy says so, where it is not that of advice.",
        },
        "reason": {
            "type": "string",
            "maxLength": LONGEST_REASON,
            "description": "Why there is none, or why it is not firm.",
        },
    },
}
_STATUS: dict[str, Schema] = {
    "workloads": {
        "type": "array",
        "maxItems": MOST_WORKLOADS,
        "description": "What is advised for workloads whose pods follow this policy.",
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "required": ["namespace", "kind", "name"],
            "properties": {
                "namespace": _NAME_TEXT,
                "kind": _NAME_TEXT,
                "name": _NAME_TEXT,
                "containers": {
                    "type": "array",
                    "maxItems": MOST_CONTAINERS,
                    "x-kubernetes-list-type": "atomic",
                    "items": _RECOMMENDED,
                },
            },
        },
    },
    "workloadsLeftOff": {
        "type": "integer",
        "format": "int32",
        "description": "How many there are beyond these: see `nemutator advise`.",
    },
}

WORDS = SchemaWords(
    meanings={
        **{k: v for k, v in MUTATION_WORDS.meanings.items() if k.startswith(_LABELS)},
        **_MEANINGS,
    },
    bounds={
        **{k: v for k, v in MUTATION_WORDS.bounds.items() if k.startswith(_LABELS)},
        "SizedResource.min": _AMOUNT,
        "SizedResource.max": _AMOUNT,
    },
    defaults={"SizingSpec.mode": "Off"},
    rules={
        **{k: v for k, v in MUTATION_WORDS.rules.items() if k.startswith(_LABELS)},
        "SizedResource": (
            (
                (
                    "!has(self.min) || !has(self.max) || "
                    "!quantity(self.min).isGreaterThan(quantity(self.max))"
                ),
                "min is above max",
            ),
            *_POSITIVE,
        ),
        "SizedContainers": (
            (
                "!has(self.memory) || !has(self.memory.strategy) || self.memory.strategy != 'Hourly'",
                "memory.strategy: Hourly is for CPU alone",
            ),
        ),
        "SizingSpec": (
            (
                (
                    "!has(self.mode) || self.mode in ['Off', 'InPlace'] || !has(self.resources) ||"
                    " !has(self.resources.cpu) || !has(self.resources.cpu.strategy) ||"
                    " self.resources.cpu.strategy != 'Hourly'"
                ),
                "resources.cpu.strategy: Hourly expects the mode InPlace, or Off to see what it would do",
            ),
        ),
    },
)


def sizing_definition() -> Schema:
    """The whole object, as it is applied to a cluster."""
    return definition_of(
        KIND,
        PLURAL,
        schema_of(SizingSpec, WORDS),
        meaning="Gives advice to pods that run, in place; every change is logged and can be undone.",
        columns=[
            column("Given", "string", '.status.conditions[?(@.type=="Given")].message'),
        ],
        status=_STATUS,
    )
