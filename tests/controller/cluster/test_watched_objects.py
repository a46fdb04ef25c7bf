from nemutator_controller.cluster.watched_objects import ObjectsSnapshot


def test_what_is_not_watched_is_empty() -> None:
    nothing = ObjectsSnapshot()
    for each in (nothing.nodes, nothing.workloads, nothing.services, nothing.unlisted):
        assert not each
