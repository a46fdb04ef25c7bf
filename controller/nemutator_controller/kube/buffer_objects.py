"""CapacityBuffers of SIG Autoscaling, where the cluster's autoscaler brings their definition."""

from typing import Final

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.resources import Resource


class CapacityBufferSpec(Shape, frozen=True, gc=False):
    replicas: int | None = None


class CapacityBuffer(Object, frozen=True, gc=False):
    spec: CapacityBufferSpec = CapacityBufferSpec()


CAPACITY_BUFFERS: Final = tuple(
    Resource("autoscaling.x-k8s.io", version, "capacitybuffers", "CapacityBuffer", CapacityBuffer)
    # The newest first: most autoscalers serve several, and which one is asked for makes no difference to them.
    for version in ("v1", "v1beta1", "v1alpha1")
)
