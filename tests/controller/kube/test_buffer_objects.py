import msgspec
from nemutator_controller.kube.buffer_objects import CAPACITY_BUFFERS, CapacityBuffer


def test_the_newer_version_is_asked_for_first() -> None:
    paths = [each.path("nemutator", "nemutator-buffer") for each in CAPACITY_BUFFERS]
    assert paths[0].startswith("/apis/autoscaling.x-k8s.io/v1/namespaces/nemutator/")
    assert paths[1].startswith("/apis/autoscaling.x-k8s.io/v1beta1/")
    assert paths[2].startswith("/apis/autoscaling.x-k8s.io/v1alpha1/")


def test_of_one_its_number_is_read() -> None:
    document = b'{"metadata":{"name":"b","uid":"u"},"spec":{"replicas":2,"limits":{"cpu":"4"}}}'
    assert msgspec.json.decode(document, type=CapacityBuffer).spec.replicas == 2
    assert (
        msgspec.json.decode(b'{"metadata":{"name":"b"}}', type=CapacityBuffer).spec.replicas is None
    )
