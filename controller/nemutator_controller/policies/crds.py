"""The CustomResourceDefinition of MutationPolicy, made from the typed model.

The structure comes from the types, what they cannot express from `schema_rules.py`; `model.py` checks the
rest.
"""

from typing import Any

import msgspec

from nemutator_controller.mutations.texts import LONGEST_ANNOTATION
from nemutator_controller.policies.model import GROUP, KIND, PLURAL, VERSION, Spec
from nemutator_controller.policies.schema_rules import (
    BOUNDS,
    DEFAULTS,
    LABEL_VALUE,
    MEANINGS,
    RULES,
    Schema,
)


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
        case msgspec.inspect.IntType():
            return {"type": "integer", "format": "int32"} | _given(minimum=info.ge, maximum=info.le)
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
        if word in BOUNDS:
            made |= BOUNDS[word]
        if word in MEANINGS:
            made["description"] = MEANINGS[word]
        if word in DEFAULTS:
            made["default"] = DEFAULTS[word]
        if word in ("PolicyMutation.labels", "PolicyMutation.nodeSelector"):
            for each in (made["properties"][key] for key in ("set", "add")):
                each["additionalProperties"] = LABEL_VALUE
        properties[field.encode_name] = made
    schema: Schema = {"type": "object", "properties": properties}
    if required := [field.encode_name for field in info.fields if field.required]:
        schema["required"] = required
    if rules := RULES.get(name):
        schema["x-kubernetes-validations"] = [
            {"rule": rule, "message": message} for rule, message in rules
        ]
    return schema


def _column(name: str, kind: str, path: str) -> Schema:
    return {"name": name, "type": kind, "jsonPath": path}
