"""What is put up so that a new user has something to try: a secret, a policy, what it changes."""

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
