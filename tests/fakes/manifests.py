"""A policy and a workload as people write them."""

from typing import Any

Json = dict[str, Any]


def policy(name: str = "defaults", *, mode: str = "Apply", **match: Any) -> Json:
    """Gives pods a team, and a quarter of the CPU that they ask for."""
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": name},
        "spec": {
            "match": match,
            "mode": mode,
            "mutations": [
                {"labels": {"set": {"team": "blue"}}},
                {"resources": {"requests": {"cpu": {"ratio": 0.25}}}},
            ],
        },
    }


def deployment(name: str = "web", cpu: str = "1") -> Json:
    resources = {"requests": {"cpu": cpu}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "app:1", "resources": resources}]},
            },
        },
    }
