"""What one request asks of what is known of the cluster."""

from nemutator_controller.admission.ports import KnownCluster
from nemutator_controller.mutations.image_digests import NoDigest
from nemutator_controller.mutations.resource_bounds import ResourceBounds


class AskedBounds:
    """The bounds of a namespace, which are asked for once by each request that needs them."""

    __slots__ = ("_cluster", "_known", "_namespace")

    def __init__(self, cluster: KnownCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._known: ResourceBounds | None = None

    def __call__(self) -> ResourceBounds:
        if self._known is None:
            self._known = self._cluster.resource_bounds(self._namespace)
        return self._known


class Lookups:
    """Notes whether a plan has asked for what no `PlanKey` has, or what is to be asked for each time."""

    def __init__(self, cluster: KnownCluster) -> None:
        self._cluster = cluster
        self.any = False

    def runtime_handler(self, runtime_class: str) -> str | None:
        self.any = True
        return self._cluster.runtime_handler(runtime_class)

    def digest(self, image: str) -> str | NoDigest:
        self.any = True
        return self._cluster.digests.digest(image)
