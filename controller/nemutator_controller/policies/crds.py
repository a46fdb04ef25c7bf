"""The CustomResourceDefinition of MutationPolicy, made from the typed model.

Structure comes from the types; what types cannot say comes as CEL, where the API server can judge
it within its cost limit, and from `model.py` where it cannot.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from nemutator_common import quantities

from nemutator_controller.mutations.texts import LONGEST_ANNOTATION, MOST
from nemutator_controller.policies.model import (
    GROUP,
    KIND,
    LONGEST_GLOB,
    MOST_GLOBS,
    MOST_MUTATIONS,
    PLURAL,
    VERSION,
    Spec,
)

Schema = dict[str, Any]

_LONGEST_KEY = 317
"""A prefix of 253, a slash, a name of 63."""

QUANTITY = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?$"

_MEANINGS: Mapping[str, str] = {
    "Spec.match": "Which pods: all that is given must fit; empty: every pod.",
    "Spec.mode": "Apply changes pods. Preview, the default, computes and logs what would be done.",
    "Spec.mutations": "What is done, in this order.",
    "Match.namespaceSelector": "On labels of the namespace.",
    "Match.podSelector": "On labels of the pod.",
    "Match.namespaces": "Globs on names of namespaces, like team-*.",
    "Match.excludedNamespaces": "Globs; a namespace that one of them names is left alone.",
    "Match.names": "Globs on the pod's name, or its workload's.",
    "Match.excludedNames": "Globs; what one of them names is left alone.",
    "Texts.set": "Keys and values, whatever stood there before.",
    "Texts.add": "Keys and values, where nothing stands.",
    "Resources.containers": "Globs on names of containers; init containers are left alone.",
    "Resources.requests": "What containers ask for. Never above their limits.",
    "Resources.limits": "What containers may use at most. Never below their requests.",
    "Resources.qos": "Keep leaves a pod alone that would change its quality-of-service class.",
    "Amount.value": "A quantity, like 250m or 1Gi.",
    "Amount.ratio": "A share of what the pod asks for in the same place; absent there, no change.",
    "Amount.advice": "What the container has been seen to need; unknown, no change.",
    "Amount.min": "Not less than this quantity.",
    "Amount.max": "Not more than this quantity.",
}

_BOUNDS: Mapping[str, Schema] = {
    "Spec.mutations": {"minItems": 1, "maxItems": MOST_MUTATIONS},
    "Resources.containers": {"minItems": 1, "maxItems": 64},
    "LabelSelector.matchExpressions": {"maxItems": 32},
    "Expression.values": {"maxItems": 64},
    "Amount.value": {"pattern": QUANTITY, "maxLength": quantities.LONGEST},
    "Amount.min": {"pattern": QUANTITY, "maxLength": quantities.LONGEST},
    "Amount.max": {"pattern": QUANTITY, "maxLength": quantities.LONGEST},
    "Amount.ratio": {"minimum": 0, "exclusiveMinimum": True, "maximum": 100},
    "Texts.set": {"maxProperties": MOST},
    "Texts.add": {"maxProperties": MOST},
    "LabelSelector.matchLabels": {"maxProperties": 32},
}

_RULES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Mutation": (
        (
            (
                "[has(self.labels), has(self.annotations), has(self.resources)]"
                ".filter(given, given).size() == 1"
            ),
            "expected exactly one of labels, annotations, resources",
        ),
    ),
    "Texts": (
        ("has(self.set) || has(self.add)", "name at least one key in set or add"),
        (
            (
                "[has(self.set) ? self.set : {}, has(self.add) ? self.add : {}]"
                f".all(each, each.all(key, !key.startsWith('{GROUP}/') && key.size() <= {_LONGEST_KEY}))"
            ),
            f"words of {GROUP} steer nemutator itself; use other keys",
        ),
    ),
    "Resources": (
        (
            "has(self.requests) || has(self.limits)",
            "name at least one amount in requests or limits",
        ),
    ),
    "Amount": (
        (
            (
                "[has(self.value), has(self.ratio), has(self.advice) && self.advice]"
                ".filter(given, given).size() == 1"
            ),
            "expected exactly one of value, ratio, advice: true",
        ),
        (
            (
                "!has(self.min) || !has(self.max) || "
                "!quantity(self.min).isGreaterThan(quantity(self.max))"
            ),
            "min is above max",
        ),
    ),
    "Expression": (
        (
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
            "In and NotIn take values, Exists and DoesNotExist take none",
        ),
    ),
}

_GLOBS = {f"Match.{field}" for field in ("namespaces", "excludedNamespaces", "names")} | {
    "Match.excludedNames"
}


def definition() -> Schema:
    """The whole object, as it is applied to a cluster."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "categories": ["nemutator"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        _column("Mode", "string", ".spec.mode"),
                        _column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
                        _column("Age", "date", ".metadata.creationTimestamp"),
                    ],
                    "schema": {"openAPIV3Schema": _object()},
                }
            ],
        },
    }


def _object() -> Schema:
    condition = {
        "type": "object",
        "required": ["type", "status"],
        "properties": {
            "type": {"type": "string", "maxLength": 316},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "observedGeneration": {"type": "integer", "format": "int64"},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "reason": {"type": "string", "maxLength": 1024},
            "message": {"type": "string", "maxLength": 32768},
        },
    }
    return {
        "type": "object",
        "description": "Changes pods when they are made; every change is logged and can be undone.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": schema_of(Spec),
            "status": {
                "type": "object",
                "properties": {
                    "conditions": {
                        "type": "array",
                        "maxItems": 16,
                        "items": condition,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                    }
                },
            },
        },
    }


def schema_of(shape: type[msgspec.Struct]) -> Schema:
    """Structural schema of a struct of the model."""
    return _of_type(msgspec.inspect.type_info(shape))


def _of_type(info: msgspec.inspect.Type) -> Schema:
    match info:
        case msgspec.inspect.StructType():
            return _of_struct(info)
        case msgspec.inspect.UnionType():
            # Of None and something: the field may be left out, which `required` says already.
            [inner] = (each for each in info.types if each != msgspec.inspect.NoneType())
            return _of_type(inner)
        case msgspec.inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case msgspec.inspect.DictType():
            return _of_map(info)
        case msgspec.inspect.VarTupleType():
            return {"type": "array", "items": _of_type(info.item_type)}
        case msgspec.inspect.StrType():
            return {"type": "string", "maxLength": LONGEST_ANNOTATION}
        case msgspec.inspect.BoolType():
            return {"type": "boolean"}
        case msgspec.inspect.FloatType():
            return {"type": "number"}
        case _:
            raise TypeError(f"no schema for {info!r}: extend crds.py")


def _of_map(info: msgspec.inspect.DictType) -> Schema:
    value = _of_type(info.value_type)
    if isinstance(info.key_type, msgspec.inspect.LiteralType):
        keys = [str(key) for key in info.key_type.values]
        return {"type": "object", "minProperties": 1, "properties": dict.fromkeys(keys, value)}
    return {"type": "object", "additionalProperties": value}


def _of_struct(info: msgspec.inspect.StructType) -> Schema:
    name = info.cls.__name__
    properties: Schema = {}
    for field in info.fields:
        word = f"{name}.{field.encode_name}"
        made = _of_type(field.type)
        if word in _GLOBS:
            made |= {"maxItems": MOST_GLOBS}
            made["items"] = {"type": "string", "minLength": 1, "maxLength": LONGEST_GLOB}
        if word in _BOUNDS:
            made |= _BOUNDS[word]
        if word in _MEANINGS:
            made["description"] = _MEANINGS[word]
        if word == "Spec.mode":
            made["default"] = "Preview"
        properties[field.encode_name] = made
    schema: Schema = {"type": "object", "properties": properties}
    if required := [field.encode_name for field in info.fields if field.required]:
        schema["required"] = required
    if rules := _RULES.get(name):
        schema["x-kubernetes-validations"] = [
            {"rule": rule, "message": message} for rule, message in rules
        ]
    return schema


def _column(name: str, kind: str, path: str) -> Schema:
    return {"name": name, "type": kind, "jsonPath": path}
