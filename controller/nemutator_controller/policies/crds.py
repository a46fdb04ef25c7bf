"""The CustomResourceDefinition of MutationPolicy, made from the typed model.

The structure comes from the types. What types cannot express is CEL, as far as the API server can
evaluate it within its cost limit; `model.py` checks the rest.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nemutator_controller.kube import quantities
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.mutations.texts import LONGEST_ANNOTATION, MOST
from nemutator_controller.policies.model import (
    GROUP,
    KIND,
    PLURAL,
    VERSION,
    Spec,
)

Schema = dict[str, Any]

_LONGEST_KEY = 317
"""A prefix of 253, a slash, a name of 63."""

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
    "ContainerResources.containers": "Globs on names of containers; init containers are left alone.",
    "ContainerResources.requests": "What containers ask for. Never above their limits.",
    "ContainerResources.limits": "What containers may use at most. Never below their requests.",
    "ContainerResources.qos": "Keep leaves a pod alone that would change its quality-of-service class.",
    "Amount.value": "A quantity, like 250m or 1Gi.",
    "Amount.ratio": "A share of what the pod asks for in the same place; absent there, no change.",
    "Amount.advice": "What the container has been seen to need; unknown, no change.",
    "Amount.min": "Not less than this quantity.",
    "Amount.max": "Not more than this quantity.",
}

_QUANTITY: Schema = {"pattern": QUANTITY.pattern, "maxLength": quantities.LONGEST}
_LABEL_VALUE: Schema = {
    "type": "string",
    "pattern": r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    "maxLength": 63,
}
"""A pattern. Patterns cost nothing, while each call of CEL counts: only keys of maps need CEL."""

_BOUNDS: Mapping[str, Schema] = {
    "LabelSelector.matchLabels": {"additionalProperties": _LABEL_VALUE},
    "Expression.key": {
        "pattern": (
            r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
        ),
        "maxLength": _LONGEST_KEY,
    },
    "Expression.values": {"items": _LABEL_VALUE},
    "Amount.value": _QUANTITY,
    "Amount.min": _QUANTITY,
    "Amount.max": _QUANTITY,
    "Texts.set": {"maxProperties": MOST},
    "Texts.add": {"maxProperties": MOST},
}

_BOTH = "[has(self.set) ? self.set : {}, has(self.add) ? self.add : {}]"

_RULES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "PolicyMutation": (
        (
            (
                "[has(self.labels), has(self.annotations), has(self.resources)]"
                ".filter(given, given).size() == 1"
            ),
            "expected exactly one of labels, annotations, resources",
        ),
    ),
    "Texts": (
        (f"{_BOTH}.exists(each, each.size() > 0)", "name at least one key in set or add"),
        (
            f"(has(self.set) ? self.set.size() : 0) + (has(self.add) ? self.add.size() : 0) <= {MOST}",
            f"more than {MOST} keys",
        ),
        (
            (
                f"{_BOTH}.all(each, each.all(key, key.size() <= {_LONGEST_KEY}"
                " && !format.qualifiedName().validate(key).hasValue()))"
            ),
            "expected keys as Kubernetes takes them: letters, digits, - _ . up to 63",
        ),
        (
            f"{_BOTH}.all(each, each.all(key, !key.startsWith('{GROUP}/')))",
            f"words of {GROUP} steer nemutator itself; use other keys",
        ),
    ),
    "ContainerResources": (
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
        *(
            (
                f"!has(self.{field}) || quantity(self.{field}).isGreaterThan(quantity('0'))",
                f"{field}: expected more than 0",
            )
            for field in ("value", "min", "max")
        ),
    ),
    "Expression": (
        (
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
            "In and NotIn take values, Exists and DoesNotExist take none",
        ),
    ),
    "LabelSelector": (
        (
            (
                "!has(self.matchLabels) || self.matchLabels.all(key,"
                " !format.qualifiedName().validate(key).hasValue())"
            ),
            "expected labels' keys as Kubernetes takes them",
        ),
    ),
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
                        # It is empty while the policy is followed.
                        _column(
                            "Fault", "string", '.status.conditions[?(@.type=="Ready")].message'
                        ),
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
    """The structural schema of a struct of the model."""
    return _of_type(msgspec.inspect.type_info(shape))


def _of_type(info: msgspec.inspect.Type) -> Schema:
    match info:
        case msgspec.inspect.StructType():
            return _of_struct(info)
        case msgspec.inspect.UnionType():
            # A union with None: the field may be left out, which `required` says already.
            [inner] = (each for each in info.types if each != msgspec.inspect.NoneType())
            return _of_type(inner)
        case msgspec.inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case msgspec.inspect.DictType():
            return _of_map(info)
        case msgspec.inspect.VarTupleType():
            bounds = _given(minItems=info.min_length, maxItems=info.max_length)
            return {"type": "array", "items": _of_type(info.item_type)} | bounds
        case msgspec.inspect.StrType():
            longest = info.max_length or LONGEST_ANNOTATION
            return {"type": "string", "maxLength": longest} | _given(minLength=info.min_length)
        case msgspec.inspect.BoolType():
            return {"type": "boolean"}
        case msgspec.inspect.FloatType():
            # The schema's bounds are inclusive unless it says otherwise.
            exclusive = {} if info.gt is None else {"minimum": info.gt, "exclusiveMinimum": True}
            return {"type": "number"} | exclusive | _given(maximum=info.le)
        case _:
            raise TypeError(f"no schema for {info!r}: extend crds.py")


def _of_map(info: msgspec.inspect.DictType) -> Schema:
    value = _of_type(info.value_type)
    if isinstance(info.key_type, msgspec.inspect.LiteralType):
        keys = [str(key) for key in info.key_type.values]
        made = {"type": "object", "properties": dict.fromkeys(keys, value)}
    else:
        made = {"type": "object", "additionalProperties": value}
    return made | _given(minProperties=info.min_length, maxProperties=info.max_length)


def _given(**bounds: Any) -> Schema:
    return {name: value for name, value in bounds.items() if value is not None}


def _of_struct(info: msgspec.inspect.StructType) -> Schema:
    name = info.cls.__name__
    properties: Schema = {}
    for field in info.fields:
        word = f"{name}.{field.encode_name}"
        made = _of_type(field.type)
        if word in _BOUNDS:
            made |= _BOUNDS[word]
        if word in _MEANINGS:
            made["description"] = _MEANINGS[word]
        if word == "Spec.mode":
            made["default"] = "Preview"
        if word == "PolicyMutation.labels":
            for each in made["properties"].values():
                each["additionalProperties"] = _LABEL_VALUE
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
