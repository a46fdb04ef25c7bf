from nemutator_controller.packing.model import PackNode, PackPod


def test_a_node_is_as_full_as_what_is_scarcer_there() -> None:
    node = PackNode(
        name="n", cpu_millis=1_000, memory_bytes=1_000, requested_cpu=100, requested_memory=400
    )
    assert node.share == 0.4
    assert PackNode(name="n", cpu_millis=0, memory_bytes=10).share == 1.0


def test_a_pod_is_named_with_its_namespace() -> None:
    assert str(PackPod(namespace="shop", name="web", uid="u")) == "shop/web"
