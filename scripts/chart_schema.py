"""What may stand in the values of the Helm chart: JSON Schema, which helm holds every value against.

Of the tables of settings it is made from their declarations, so that a setting which no process knows is
refused before anything is installed.
"""

import enum
import pathlib
import types
import typing
from typing import Any

from nemutator_common import names, settings

from scripts.reference import schemas

Json = dict[str, Any]

# These run in a cluster; `up` and `ctl` do not.
ROLES = (names.MOUNT, names.CREDENTIALS, names.OBSERVE, names.ADMISSION, names.BRAIN)

# A Kubernetes quantity, as far as what a person writes.
QUANTITY: Json = {"type": ["string", "number"], "pattern": r"^[0-9.]+([eE][0-9]+|[mkKMGTPE]i?)?$"}
TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
LABELS: Json = {"type": "object", "additionalProperties": TEXT}
OBJECTS: Json = {"type": "array", "items": {"type": "object"}}


def schema() -> Json:
    image = _table(repository=TEXT, tag=TEXT, digest=TEXT)
    resources = {
        "type": "object",
        "properties": {
            part: {"type": "object", "additionalProperties": QUANTITY}
            for part in ("requests", "limits")
        },
        "additionalProperties": False,
    }
    of_pods = {"nodeSelector": LABELS}
    replicas: Json = {"type": "integer", "minimum": 1}
    enabled = {"enabled": FLAG}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart nemutator",
        **_table(
            images=_table(registry=TEXT, agent=image, controller=image),
            imagePullPolicy={"enum": ["", "Always", "IfNotPresent", "Never"]},
            imagePullSecrets=OBJECTS,
            credentials=_table(**enabled),
            observe=_table(**enabled),
            admission=_table(**enabled, replicas=replicas, tolerations=OBJECTS, **of_pods),
            brain=_table(
                replicas=replicas,
                tolerations=OBJECTS,
                **of_pods,
                storage=_table(enabled=FLAG, size=QUANTITY, className=TEXT),
            ),
            agent=_table(**of_pods),
            scheduler=_table(
                **enabled, image=TEXT, replicas=replicas, tolerations=OBJECTS, **of_pods
            ),
            buffer=_table(**enabled, image=TEXT, **of_pods),
            nodes=_table(**enabled),
            scaling=_table(**enabled),
            oversell=_table(**enabled),
            vault=_table(
                address={"type": "string", "pattern": "^(https?://.*)?$"},
                ca=TEXT,
            ),
            kubeletRoot={"type": "string", "pattern": "^/"},
            priorityClasses=FLAG,
            networkPolicy=_table(**enabled),
            metrics=_table(
                **enabled,
                address=TEXT,
                namespace={"type": "string", "minLength": 1},
                podMonitor=_table(**enabled, labels=LABELS, interval=TEXT),
                rules=_table(**enabled, labels=LABELS),
                dashboards=_table(**enabled, labels=LABELS),
            ),
            resources=_table(**dict.fromkeys((*ROLES, "scheduler", "pause"), resources)),
            extraEnv=OBJECTS,
            crds=_table(install=FLAG),
            settings=_settings(),
            **{"global": {"type": "object"}},
        ),
    }


def _table(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _settings() -> Json:
    """A table for each process, and what they all understand beside them."""
    tables: Json = {}
    for each in schemas():
        own = [field for field in settings.fields(each) if field.table]
        tables[each.role] = _table(**{field.name: _typed(field) for field in own})
    shared = {field.name: _typed(field) for field in settings.fields(settings.Shared)}
    return _table(**shared, **{role: tables[role] for role in ROLES})


def _typed(field: settings.Field) -> Json:
    return {**_kind(field.annotation), "description": field.meaning}


def _kind(annotation: Any) -> Json:
    if isinstance(annotation, types.UnionType):
        annotation = next(each for each in annotation.__args__ if each is not type(None))
    if typing.get_origin(annotation) is typing.Literal:
        return {"enum": list(typing.get_args(annotation))}
    if isinstance(annotation, type) and issubclass(annotation, enum.StrEnum):
        return {"enum": [each.value for each in annotation]}
    return {
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
        str: {"type": "string"},
        pathlib.Path: {"type": "string"},
    }[annotation]
