from nemutator_controller.buffers.model import BufferObject, FoundBuffer


def test_what_is_to_hold_the_buffer_comes_first() -> None:
    made, other = (
        BufferObject(api_version="v", kind=kind, namespace="n", name="b", uid=kind, pods=0)
        for kind in ("CapacityBuffer", "Deployment")
    )
    found = FoundBuffer(cpu_cores=1, memory_bytes=1, holder=made, others=(other,))
    assert found.objects == (made, other)
