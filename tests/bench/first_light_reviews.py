"""What an API server asks when a Deployment makes pods: one pod of 4 KB, in three circumstances."""

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.admission_reviews import review

OPTED_IN, PLAIN, UNTOUCHED, SIZED, ODD = "shop", "labelled", "other", "sized", "odd"
"""Namespaces: all policies and injection; one policy with two labels; nothing to do; what VPA does; as in the first one, by
pods that ask for an amount of their own."""

NAMESPACES: Mapping[str, Mapping[str, str]] = {
    OPTED_IN: {"team": "shop", "nemutator.io/inject": "enabled"},
    PLAIN: {"team": "plain"},
    ODD: {"team": "shop", "nemutator.io/inject": "enabled"},
    UNTOUCHED: {"team": "other"},
    SIZED: {"team": "sized"},
}

LABELS = {"cost-centre": "4711", "team": "payments"}
"""What the policy for `PLAIN` sets, and the peer too."""

REQUESTS = {"cpu": "120m", "memory": "200Mi"}
"""What each container is given in `SIZED`, by our policy and by VPA's recommendation."""

RANDOM, REVISION, CONTAINER = "x7k2p", "7d9c5b8f6d", "proxy"
"""What differs between pods of one workload, between those of two revisions of it, and between workloads."""

WORKLOAD = f"checkout-{CONTAINER}"

POLICIES: Mapping[str, Any] = {
    "labels": {
        "match": {"namespaces": [PLAIN, OPTED_IN, ODD]},
        "mode": "Apply",
        "mutations": [{"labels": {"set": LABELS}}],
    },
    "owners": {
        "match": {"namespaces": [OPTED_IN, ODD]},
        "mode": "Apply",
        "mutations": [
            {"annotations": {"set": {"contact": "payments@shop.example"}, "add": {"tier": "2"}}}
        ],
    },
    "sizes": {
        "match": {"namespaces": [OPTED_IN, ODD]},
        "mode": "Apply",
        "mutations": [
            {
                "resources": {
                    "requests": {"cpu": {"ratio": 0.5, "min": "50m"}, "memory": {"ratio": 0.8}}
                }
            }
        ],
    },
}


def body(namespace: str) -> bytes:
    """The question about the pod in *namespace*, as it is sent."""
    return json.dumps(review(pod(namespace), namespace=namespace)).encode()


def pod(namespace: str) -> Any:
    # A number stands in its place by the time that anybody is asked about it.
    memory = CONTAINER if namespace == ODD else "256Mi"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{WORKLOAD}-{REVISION}-",
            "namespace": namespace,
            "creationTimestamp": None,
            "labels": {
                "app.kubernetes.io/name": "checkout",
                "app.kubernetes.io/part-of": "shop",
                "pod-template-hash": REVISION,
                "version": "2026-11-20",
            },
            "annotations": {
                "prometheus.io/port": "9090",
                "prometheus.io/scrape": "true",
                "nemutator.io/secret.database": "secret/shop/checkout/database",
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{WORKLOAD}-{REVISION}",
                    "uid": "4f1d6a3e-5a83-4f3c-8f0f-1f4c8b6a2d11",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "containers": [
                _container(
                    "app", "registry.example/shop/checkout:4.17.2", 8080, _ENVIRONMENT, memory
                ),
                _container(
                    CONTAINER, f"registry.example/mesh/{CONTAINER}:1.21.0", 15001, _FEW, memory
                ),
            ],
            "volumes": [
                {"name": "config", "configMap": {"name": "checkout", "defaultMode": 420}},
                {
                    "name": f"kube-api-access-{RANDOM}",
                    "projected": {
                        "sources": [
                            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                            {
                                "configMap": {
                                    "name": "kube-root-ca.crt",
                                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                                }
                            },
                        ],
                        "defaultMode": 420,
                    },
                },
            ],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "checkout",
            "serviceAccount": "checkout",
            "securityContext": {"runAsUser": 1000, "runAsNonRoot": True, "fsGroup": 1000},
            "schedulerName": "default-scheduler",
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{taint}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for taint in ("not-ready", "unreachable")
            ],
            "priority": 0,
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
        },
        "status": {},
    }


_ENVIRONMENT = {
    "DATABASE_HOST": "postgres.shop.svc.cluster.local",
    "CACHE_HOST": "redis.shop.svc.cluster.local",
    "LOG_LEVEL": "info",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.observability.svc:4317",
    "PAYMENT_TIMEOUT_MS": "2500",
}
_FEW = {"MESH_ID": "shop", "UPSTREAM": "127.0.0.1:8080"}


def _container(
    name: str, image: str, port: int, environment: Mapping[str, str], memory: str
) -> Any:
    return {
        "name": name,
        "image": image,
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "resources": {
            "limits": {"cpu": "1", "memory": "512Mi"},
            "requests": {"cpu": "250m", "memory": memory},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/checkout"},
            {
                "name": f"kube-api-access-{RANDOM}",
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            },
        ],
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": port, "scheme": "HTTP"},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
