"""For which workloads the API server asks us: those whose templates some policy is for, and no others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nemutator_common.names import DOMAIN

from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.paths import WORKLOADS
from nemutator_controller.policies.model import Policy

ENTRY = f"templates.{DOMAIN}"
"""The name of its entry in our webhook configuration."""

_ONLY_NEW = frozenset({"Job"})
"""Kinds whose templates never change."""

Rules = list[dict[str, Any]]


def rules_for(policies: Iterable[Policy]) -> Rules:
    """The rules of the entry, for these *policies* of templates; without policies there are none."""
    wanted = {
        kind
        for policy in policies
        for kind in WORKLOADS
        if not (globs := policy.spec.match.owner_kinds) or fits_any(kind, globs)
    }
    rules: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, (group, resource) in WORKLOADS.items():
        if kind in wanted:
            operations = ("CREATE",) if kind in _ONLY_NEW else ("CREATE", "UPDATE")
            rules.setdefault((group, operations), []).append(resource)
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["v1"],
            "resources": resources,
            "operations": list(operations),
            "scope": "Namespaced",
        }
        for (group, operations), resources in rules.items()
    ]


def rules_patch(configuration: Mapping[str, Any], rules: Rules) -> Sequence[Mapping[str, Any]]:
    """The JSON Patch that gives our entry its *rules*; empty: it has them, or there is no such entry.

    It is guarded by the entry's name, because somebody may reorder the entries between read and write.
    """
    for index, entry in enumerate(configuration.get("webhooks") or ()):
        if entry.get("name") == ENTRY and (entry.get("rules") or []) != rules:
            path = f"/webhooks/{index}"
            return [
                {"op": "test", "path": f"{path}/name", "value": ENTRY},
                {"op": "add", "path": f"{path}/rules", "value": rules},
            ]
    return []
