"""The CustomResourceDefinition of SeasonPolicy, made from the typed model and what it cannot express."""

from nemutator_controller.policies.crds import (
    MUTATION_WORDS,
    SchemaWords,
    column,
    definition_of,
    schema_of,
)
from nemutator_controller.policies.schema_bounds import Schema
from nemutator_controller.policies.season_policies import SEASON_KIND, SEASON_PLURAL, SeasonSpec

_WHEN = ("When", "TimeWindow", "SeasonOf")
"""Structs of MutationPolicy that are part of this, with what is said of them there."""

_MEANINGS = {
    "SeasonSpec.when": "The seasons in which this brain is in force, and whose they are.",
    "SeasonSpec.advice": "How advice is made meanwhile, for all workloads.",
    "SeasonSpec.resizes": "Hold: no pod is resized meanwhile, or sized by mode Initial at its creation. Allow is the default.",
    "SeasonSpec.evictions": "Hold: evictions that were asked for wait meanwhile. Allow is the default.",
    "SeasonSpec.buffer": "Room that is kept free meanwhile by pods of low priority, where the setting brain.buffer_pods allows some; one of the two.",
    "SeasonSpec.reserve": "Open: meanwhile any pod may run on the nodes that the setting brain.reserve_nodes selects; otherwise they bear a taint. Closed is the default.",
    "SeasonSpec.placement": "Pack or Spread: how nodes are scored meanwhile. With Pack nodes are emptied, too, where the setting brain.packing_nodes allows some.",
    "SeasonSpec.aggressors": "Pods from which others suffer, as their grade says now: who of them would be evicted, or is.",
    "SeasonSpec.oversell": "The ceiling up to which nodes are packed, by the limits of pods, and their CPU is oversold by NodeOversells. Of several policies in force the lowest counts.",
    "SeasonOversell.cpuPercent": "Of the CPU that a node has for pods: what they may use of it together, by their limits.",
    "SeasonOversell.memoryPercent": "The same of memory.",
    "SeasonAggressors.grade": "From this grade on, of 1 to 4.",
    "SeasonAggressors.mode": "Preview says who would be evicted, and Apply evicts one after another within the budgets. Preview is the default.",
    "SeasonBuffer.pods": "So many, whatever the forecast says.",
    "SeasonBuffer.forecastPercent": "As many as request this share of the CPU that the cluster is expected to use within the lead, and does not use now.",
    "SeasonAdvice.cpuPercentile": "Of CPU use, what is requested; as the settings say, if this is absent.",
    "SeasonAdvice.memoryBufferPercent": "Above the largest peak; as the settings say, if this is absent.",
}

WORDS = SchemaWords(
    meanings={
        **{k: v for k, v in MUTATION_WORDS.meanings.items() if k.startswith(_WHEN)},
        **_MEANINGS,
    },
    bounds={k: v for k, v in MUTATION_WORDS.bounds.items() if k.startswith(_WHEN)},
    defaults={},
    rules={
        "SeasonSpec": (
            ("has(self.when.season) && self.when.season.size() > 0", "name at least one season"),
        ),
        "SeasonOversell": (
            (
                "has(self.cpuPercent) || has(self.memoryPercent)",
                "name cpuPercent, memoryPercent or both",
            ),
        ),
        "SeasonBuffer": (
            ("has(self.pods) != has(self.forecastPercent)", "name one of pods and forecastPercent"),
        ),
    },
)


def season_definition() -> Schema:
    """The whole object, as it is applied to a cluster."""
    made = definition_of(
        SEASON_KIND,
        SEASON_PLURAL,
        schema_of(SeasonSpec, WORDS),
        meaning="A brain: how nemutator behaves in a season; each switch is logged and can be undone.",
        columns=[
            column("InForce", "string", '.status.conditions[?(@.type=="InForce")].status'),
            column("Why", "string", '.status.conditions[?(@.type=="InForce")].message'),
        ],
    )
    (version,) = made["spec"]["versions"]
    # It has no mode.
    version["additionalPrinterColumns"] = version["additionalPrinterColumns"][1:]
    return made
