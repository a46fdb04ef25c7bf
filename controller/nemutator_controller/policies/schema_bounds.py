"""What the schema of MutationPolicy bounds beside its types, and fills in; by `Struct.field` of the model.

The API server evaluates a pattern for nothing: what one can say is no rule in CEL (`schema_rules.py`). Its regular
expressions know no lookahead.
"""

import re
from collections.abc import Mapping
from typing import Any

from nemutator_controller.kube import quantities
from nemutator_controller.mutations.chosen_names import NAME
from nemutator_controller.mutations.env import FIELD_PATH, REFERENCE, SOURCE_KEY, VARIABLE
from nemutator_controller.mutations.image_references import IMAGE, PREFIX, REPOSITORY_GLOB, TAG
from nemutator_controller.mutations.known_tokens import KEY
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.mutations.texts import LONGEST_KEY, MOST
from nemutator_controller.mutations.volumes import LABEL, MOUNT_PATH
from nemutator_controller.policies.field_conditions import FIELD
from nemutator_controller.policies.model import OWNER_KIND
from nemutator_controller.policies.time_windows import TIME

Schema = dict[str, Any]

_QUANTITY: Schema = {"pattern": QUANTITY.pattern, "maxLength": quantities.LONGEST}
LABEL_VALUE: Schema = {
    "type": "string",
    "pattern": r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    "maxLength": 63,
}

_LABEL_KEY: Schema = {
    "pattern": (
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
    ),
    "maxLength": LONGEST_KEY,
}
_VARIABLE: Schema = {"pattern": VARIABLE.pattern, "maxLength": 128}
_TAINT_KEY: Schema = _LABEL_KEY | {"pattern": f"^$|{_LABEL_KEY['pattern']}"}
_NAME: Schema = {"pattern": NAME.pattern}
_OBJECT_NAME: Schema = {"type": "string", "pattern": NAME.pattern, "maxLength": 253}

_AMOUNTS: Schema = {
    "properties": {
        name: {"type": "string"} | _QUANTITY for name in ("cpu", "memory", "ephemeral-storage")
    }
}

_REPOSITORIES: Schema = {
    "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": 253,
        "pattern": REPOSITORY_GLOB.pattern,
    }
}


def _different(key: str) -> Schema:
    """No two items of a list have the same *key*: a rule in CEL that compares all of them would cost too much."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}


BOUNDS: Mapping[str, Schema] = {
    "Match.images": _REPOSITORIES,
    "Match.ownerKinds": {
        "items": {"type": "string", "minLength": 1, "maxLength": 253, "pattern": OWNER_KIND.pattern}
    },
    "TagRule.images": _REPOSITORIES,
    "ImageRules.pin": _REPOSITORIES,
    "ImageRules.allowed": _REPOSITORIES,
    "LabelSelector.matchLabels": {"additionalProperties": LABEL_VALUE},
    "FieldCondition.field": {"pattern": FIELD.pattern},
    "FieldCondition.amount": _QUANTITY,
    "PolicyToken.key": {"pattern": KEY.pattern},
    "Expression.key": _LABEL_KEY,
    "Expression.values": {"items": LABEL_VALUE},
    "Amount.value": _QUANTITY,
    "Amount.min": _QUANTITY,
    "Amount.max": _QUANTITY,
    "Texts.set": {"maxProperties": MOST},
    "Texts.add": {"maxProperties": MOST},
    "Texts.remove": {"items": {"type": "string"} | _LABEL_KEY},
    "PullSecrets.add": {"items": _OBJECT_NAME},
    "PullSecrets.remove": {"items": _OBJECT_NAME},
    "SpreadConstraint.topologyKey": _LABEL_KEY,
    "SpreadConstraint.matchLabelKeys": {"items": {"type": "string"} | _LABEL_KEY},
    "PodTerm.topologyKey": _LABEL_KEY,
    "PreferredPods.topologyKey": _LABEL_KEY,
    "SecurityDefaults.pod": {"minProperties": 1},
    "SecurityDefaults.container": {"minProperties": 1},
    "EnvRules.remove": {"items": {"type": "string", "minLength": 1} | _VARIABLE},
    "Variable.name": _VARIABLE,
    "FieldSource.fieldPath": {"pattern": FIELD_PATH.pattern},
    "KeySource.name": _NAME,
    "KeySource.key": {"pattern": SOURCE_KEY.pattern},
    "Variable.secret": {"pattern": REFERENCE.pattern},
    "TagRule.set": {"pattern": TAG.pattern},
    "Move.from": {"pattern": PREFIX.pattern},
    "Move.to": {"pattern": PREFIX.pattern},
    "ChosenName.set": _NAME,
    "ChosenName.add": _NAME,
    "SelectorRules.rename": {"additionalProperties": {"type": "string"} | _LABEL_KEY},
    "SelectorRules.set": {"additionalProperties": LABEL_VALUE},
    "EmptyDirs.sizeLimit": _QUANTITY,
    "Sidecars.add": _different("name"),
    "Sidecar.volumeMounts": _different("mountPath"),
    "Sidecar.name": {"pattern": LABEL},
    "Sidecar.image": {"pattern": f"^({re.sub(r'[?]P<[a-z]+>', '', IMAGE.pattern)})$"},
    "Sidecar.requests": _AMOUNTS,
    "Sidecar.limits": _AMOUNTS,
    "SidecarVariable.name": _VARIABLE,
    "SidecarMount.name": {"pattern": LABEL},
    "SidecarMount.mountPath": {"pattern": MOUNT_PATH},
    "MountedVolume.name": {"pattern": LABEL},
    "MountedVolume.configMap": _NAME,
    "MountedVolume.secret": _NAME,
    "MountedVolume.mountPath": {"pattern": MOUNT_PATH},
    "VariableSource.configMap": _NAME,
    "VariableSource.secret": _NAME,
    "TimeWindow.from": {"pattern": TIME},
    "TimeWindow.to": {"pattern": TIME},
    "Toleration.key": _TAINT_KEY,
    "Toleration.value": LABEL_VALUE,
}

DEFAULTS: Mapping[str, str] = {"Spec.applyTo": "pod", "Spec.mode": "Preview"}
"""What the API server writes where nothing is given, so that people see it."""
