from nemutator_controller.mutations.advisor import WorkloadRef
from nemutator_controller.mutations.talkers import NO_TALKERS, Talker, Talkers

WEB = WorkloadRef("shop", "Deployment", "web")
CACHE = Talker("shop", {"app": "cache"}, 1.0)


def test_of_whom_nothing_is_told_there_are_no_talkers() -> None:
    told = Talkers({WEB: (CACHE,)})
    assert told.of(WEB) == (CACHE,)
    assert told.of(WorkloadRef("shop", "StatefulSet", "web")) == ()
    assert NO_TALKERS.of(WEB) == ()
