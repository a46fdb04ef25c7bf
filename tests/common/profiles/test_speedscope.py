import json

from hypothesis import given
from nemutator_common.profiles import speedscope
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Profile, Weighed

from tests.common.profiles.made import profiles, small


def test_stacks_begin_with_the_outermost_and_weigh_time() -> None:
    document = json.loads(speedscope.render(small(), title="cart"))
    [shown] = document["profiles"]
    assert shown["samples"] == [[0, 1, 2], [0, 3], [0]]
    assert shown["weights"] == [60_000_000, 30_000_000, 10_000_000]
    assert (shown["unit"], shown["name"], shown["type"]) == ("nanoseconds", "cart", "sampled")
    assert document["shared"]["frames"][0] == {
        "name": "main.main",
        "file": "main.go",
        "line": 10,
    }


@given(profiles())
def test_every_sample_refers_to_a_frame_and_the_sum_is_the_end(profile: Profile) -> None:
    document = json.loads(speedscope.render(profile, title=""))
    [shown] = document["profiles"]
    frames = document["shared"]["frames"]
    assert all(0 <= number < len(frames) for stack in shown["samples"] for number in stack)
    assert len(shown["samples"]) == len(shown["weights"])
    assert shown["endValue"] == sum(shown["weights"])
    assert all(frame["name"] for frame in frames)


def test_bytes_are_bytes_and_unknown_units_are_counted() -> None:
    heap = HeapProfile(
        started_at=0, rate=1, frames=(Frame("f"),), sites=(((0,), Allocated(1, 2, 1, 2)),)
    )
    [shown] = json.loads(speedscope.render(heap, title=""))["profiles"]
    assert (shown["unit"], shown["weights"]) == ("bytes", [2])
    locks = Weighed(frames=(Frame("f"),), stacks=(((0,), 7),), unit="locks")
    [shown] = json.loads(speedscope.render(locks, title=""))["profiles"]
    assert (shown["unit"], shown["weights"]) == ("none", [7])
