"""The CustomResourceDefinitions of our policies, made from their typed models.

The structure comes from the types, what they cannot express from `schema_meanings.py`, `schema_bounds.py` and
`schema_rules.py`; `model.py` checks the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from nemutator_controller.mutations.texts import LONGEST_ANNOTATION
from nemutator_controller.policies.model import GROUP, KIND, PLURAL, VERSION, Spec
from nemutator_controller.policies.schema_bounds import BOUNDS, DEFAULTS, LABEL_VALUE, Schema
from nemutator_controller.policies.schema_meanings import MEANINGS
from nemutator_controller.policies.schema_rules import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaWords:
    """What a schema says beside its types, by `Struct.field` or `Struct` of the model."""

    meanings: Mapping[str, str]
    bounds: Mapping[str, Schema]
    defaults: Mapping[str, str]
    rules: Mapping[str, tuple[tuple[str, str], ...]]


NOTHING_MORE: Mapping[str, Schema] = MappingProxyType({})

MUTATION_WORDS = SchemaWords(meanings=MEANINGS, bounds=BOUNDS, defaults=DEFAULTS, rules=RULES)


def definition() -> Schema:
    """MutationPolicy, the whole object, as it is applied to a cluster."""
    return definition_of(
        KIND,
        PLURAL,
        schema_of(Spec),
        meaning="Changes pods when they are made; every change is logged and can be undone.",
    )


def definition_of(
    kind: str,
    plural: str,
    spec: Schema,
    *,
    meaning: str,
    columns: Sequence[Schema] = (),
    status: Mapping[str, Schema] = NOTHING_MORE,
    scope: str = "Cluster",
) -> Schema:
    """A resource with a mode and conditions; *columns* come before its age, and *status* is what its
    status has beside conditions."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "categories": ["nemutator"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        column("Mode", "string", ".spec.mode"),
                        column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
                        # It is empty while the policy is followed.
                        column("Fault", "string", '.status.conditions[?(@.type=="Ready")].message'),
                        *columns,
                        column("Age", "date", ".metadata.creationTimestamp"),
                    ],
                    "schema": {"openAPIV3Schema": _object(spec, meaning, status)},
                }
            ],
        },
    }


def _object(spec: Schema, meaning: str, status: Mapping[str, Schema]) -> Schema:
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
        "description": meaning,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": {
                "type": "object",
                "properties": {
                    "conditions": {
                        "type": "array",
                        "maxItems": 16,
                        "items": condition,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                    },
                    **status,
                },
            },
        },
    }


def schema_of(shape: type[msgspec.Struct], words: SchemaWords = MUTATION_WORDS) -> Schema:
    """The structural schema of a struct of the model."""
    return _of_type(msgspec.inspect.type_info(shape), words)


def _of_type(info: msgspec.inspect.Type, words: SchemaWords) -> Schema:
    match info:
        case msgspec.inspect.StructType():
            return _of_struct(info, words)
        case msgspec.inspect.UnionType():
            # A union with None: the field may be left out, which `required` says already.
            [inner] = (each for each in info.types if each != msgspec.inspect.NoneType())
            return _of_type(inner, words)
        case msgspec.inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case msgspec.inspect.DictType():
            return _of_map(info, words)
        case msgspec.inspect.VarTupleType():
            bounds = _given(minItems=info.min_length, maxItems=info.max_length)
            return {"type": "array", "items": _of_type(info.item_type, words)} | bounds
        case msgspec.inspect.StrType():
            longest = info.max_length or LONGEST_ANNOTATION
            return {"type": "string", "maxLength": longest} | _given(minLength=info.min_length)
        case msgspec.inspect.IntType():
            return {"type": "integer", "format": "int32"} | _given(minimum=info.ge, maximum=info.le)
        case msgspec.inspect.BoolType():
            return {"type": "boolean"}
        case msgspec.inspect.FloatType():
            # The schema's bounds are inclusive unless it says otherwise.
            least = (
                _given(minimum=info.ge)
                if info.gt is None
                else {"minimum": info.gt, "exclusiveMinimum": True}
            )
            return {"type": "number"} | least | _given(maximum=info.le)
        case _:
            raise TypeError(f"no schema for {info!r}: extend crds.py")


def _of_map(info: msgspec.inspect.DictType, words: SchemaWords) -> Schema:
    value = _of_type(info.value_type, words)
    if isinstance(info.key_type, msgspec.inspect.LiteralType):
        keys = [str(key) for key in info.key_type.values]
        made = {"type": "object", "properties": dict.fromkeys(keys, value)}
    else:
        made = {"type": "object", "additionalProperties": value}
    return made | _given(minProperties=info.min_length, maxProperties=info.max_length)


def _given(**bounds: Any) -> Schema:
    return {name: value for name, value in bounds.items() if value is not None}


def _of_struct(info: msgspec.inspect.StructType, words: SchemaWords) -> Schema:
    name = info.cls.__name__
    properties: Schema = {}
    for field in info.fields:
        word = f"{name}.{field.encode_name}"
        made = _of_type(field.type, words)
        if word in words.bounds:
            made |= words.bounds[word]
        if word in words.meanings:
            made["description"] = words.meanings[word]
        if word in words.defaults:
            made["default"] = words.defaults[word]
        if word in ("PolicyMutation.labels", "PolicyMutation.nodeSelector"):
            for each in (made["properties"][key] for key in ("set", "add")):
                each["additionalProperties"] = LABEL_VALUE
        properties[field.encode_name] = made
    schema: Schema = {"type": "object", "properties": properties}
    if required := [field.encode_name for field in info.fields if field.required]:
        schema["required"] = required
    if rules := words.rules.get(name):
        schema["x-kubernetes-validations"] = [
            {"rule": rule, "message": message} for rule, message in rules
        ]
    return schema


def column(name: str, kind: str, path: str) -> Schema:
    return {"name": name, "type": kind, "jsonPath": path}
