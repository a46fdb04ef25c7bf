"""Kubelet's --root-dir, which some distributions put in a place of their own."""

import os

USUAL_PLACES = (
    # kubeadm, kind, minikube, k3s, RKE2, and the nodes of EKS, GKE and AKS.
    "/var/lib/kubelet",
    "/var/lib/k0s/kubelet",
    "/var/snap/microk8s/common/var/lib/kubelet",
    # k3s before 0.10, and without root.
    "/var/lib/rancher/k3s/agent/kubelet",
    # IBM Cloud.
    "/var/data/kubelet",
    # RKE on RancherOS and Flatcar.
    "/opt/rke/var/lib/kubelet",
)
REGISTRY = "plugins_registry"
"""The directory in it where kubelet looks for drivers: it makes that, and nobody else does."""


def find_kubelet_root(*, root: str = "") -> str | None:
    """The first of the usual places where a kubelet is, below *root*."""
    return next(
        (place for place in USUAL_PLACES if os.path.isdir(f"{root}{place}/{REGISTRY}")), None
    )
