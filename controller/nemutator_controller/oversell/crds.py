"""The CustomResourceDefinition of NodeOversell, made from the typed model and what it cannot express."""

from nemutator_common import names

from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.oversell.model import KIND, PLURAL, OversellSpec
from nemutator_controller.oversell.observed_nodes import ENABLED
from nemutator_controller.oversell.status_rows import LONGEST_TEXT, MOST_NODES, MOST_REASONS
from nemutator_controller.policies.crds import (
    MUTATION_WORDS,
    SchemaWords,
    column,
    definition_of,
    schema_of,
)
from nemutator_controller.policies.schema_bounds import Schema

_LABELS = ("LabelSelector", "Expression")
"""Structs of MutationPolicy that are part of this, with what is said of them there."""

_MEANINGS = {
    "OversellSpec.nodeSelector": (
        f"On labels of nodes; empty: all. Only those that have the label {names.OVERSELL} with the value {ENABLED} are changed. Of"
        " several policies that select a node the first by name counts."
    ),
    "OversellSpec.maxCPURatio": "How many times its CPU the pods of a node may request together at most, from 1 to 2.",
    "OversellSpec.mode": "Preview decides and shows, and changes nothing. Preview is the default.",
    "OversellSpec.pressure": "How busy a node may be.",
    "OversellSpec.reserve": "CPU of each node that is never promised, like 500m.",
    "OversellBounds.cpuPercent": (
        "Of a node's CPU, what may be used in 95 of 100 minutes once the whole ratio is requested. 70 is the default."
    ),
    "OversellBounds.waitingPercent": (
        "Of the last five minutes, in which some task of a node waits for CPU (PSI): from here on the ratio falls, and from half of it on it"
        " does not rise. 20 is the default."
    ),
}

_TEXT: Schema = {"type": "string", "maxLength": LONGEST_TEXT}
_STATUS: dict[str, Schema] = {
    "nodes": {
        "type": "array",
        "maxItems": MOST_NODES,
        "description": "The ratios of nodes that it selects, and what bounds them.",
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": _TEXT,
                "ratio": {**_TEXT, "description": "That stands there; in Preview what would."},
                "reason": _TEXT,
            },
        },
    },
    "nodesLeftOff": {
        "type": "integer",
        "format": "int32",
        "description": "How many there are beyond these: see `nemutator oversell`.",
    },
    "reasons": {
        "type": "array",
        "maxItems": MOST_REASONS,
        "description": "How many nodes are bounded by what.",
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "required": ["reason", "nodes"],
            "properties": {"reason": _TEXT, "nodes": {"type": "integer", "format": "int32"}},
        },
    },
}

WORDS = SchemaWords(
    meanings={
        **{k: v for k, v in MUTATION_WORDS.meanings.items() if k.startswith(_LABELS)},
        **_MEANINGS,
    },
    bounds={
        **{k: v for k, v in MUTATION_WORDS.bounds.items() if k.startswith(_LABELS)},
        "OversellSpec.reserve": {"pattern": QUANTITY.pattern, "maxLength": 64},
    },
    defaults={"OversellSpec.mode": "Preview"},
    rules={
        **{k: v for k, v in MUTATION_WORDS.rules.items() if k.startswith(_LABELS)},
        "OversellSpec": (
            (
                "!has(self.reserve) || !quantity(self.reserve).isLessThan(quantity('0'))",
                "reserve: expected no less than 0",
            ),
        ),
    },
)


def oversell_definition() -> Schema:
    """The whole object, as it is applied to a cluster."""
    return definition_of(
        KIND,
        PLURAL,
        schema_of(OversellSpec, WORDS),
        meaning="Lets pods request more CPU of nodes than these have, as far as their use and pressure allow.",
        columns=[
            column("Ratio", "number", ".spec.maxCPURatio"),
            column("Oversold", "string", '.status.conditions[?(@.type=="Oversold")].message'),
        ],
        status=_STATUS,
    )
