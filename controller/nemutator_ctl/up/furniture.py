"""What is put up so that a new user has something to try: a secret, a policy, what it changes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SECRET = "greeting"  # noqa: S105 - its name
VALUE = "hello from nemutator"

POLICY: dict[str, Any] = {
    "apiVersion": "nemutator.io/v1alpha1",
    "kind": "MutationPolicy",
    "metadata": {"name": "sample-owners"},
    "spec": {
        "match": {"namespaces": ["sample"]},
        "mode": "Apply",
        "mutations": [
            {"labels": {"set": {"team": "shop"}}},
            {"resources": {"requests": {"cpu": {"ratio": 0.25}}}},
        ],
    },
}

MANIFEST: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "shop", "namespace": "sample"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {
                "containers": [
                    {
                        "name": "shop",
                        "image": "example.com/shop:1",
                        "resources": {"requests": {"cpu": "1", "memory": "256Mi"}},
                    }
                ]
            },
        },
    },
}
"""Nothing runs it: without a cluster, manifests are what policies change."""


FILE = Path("Deployment", MANIFEST["metadata"]["namespace"], f"{MANIFEST['metadata']['name']}.json")
"""Where the brain keeps that manifest, below the data directory's objects."""


def absent(kept: Iterable[Mapping[str, object]]) -> list[dict[str, Any]]:
    """What is not among the objects that are *kept* already, in the order to put it up.

    What is there may be a person's own by now, and is none of our business whatever is in it.
    """
    there = {_named(one) for one in kept}
    return [
        one
        for one in (POLICY, MANIFEST)
        if _named({"kind": one["kind"], **one["metadata"]}) not in there
    ]


def _named(one: Mapping[str, object]) -> tuple[object, ...]:
    return (one.get("kind"), one.get("namespace") or "", one.get("name"))
