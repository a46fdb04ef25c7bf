from nemutator_agent.windows.following import FollowedProcesses
from nemutator_common import names

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.window_parts import ListedPods, MemoryProcesses, observed


def test_who_is_followed_and_why_others_are_not() -> None:
    meter = MemoryMeter()
    processes = MemoryProcesses(
        [
            observed(1, age_s=10_001),
            observed(2, age_s=10_002),
            observed(3, age_s=10_003),
            observed(4, age_s=60),
            observed(5, is_go=False),
            observed(6, pod_uid="left alone"),
            observed(7, age_s=20_000, pod_uid="chosen"),
        ]
    )
    followed = FollowedProcesses(
        processes, ListedPods({"chosen"}), fake_process(meter=meter), age_s=3600, most=3
    )
    assert [one.id.pid for one in followed.now()] == [7, 3, 2]
    for state, count in {
        "followed": 3,
        "over_cap": 1,
        "young": 1,
        "not_go": 1,
        "not_chosen": 1,
    }.items():
        assert meter.value(names.WINDOW_PROCESSES, state=state) == count
