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
        "line": 8,
    }


def test_a_function_is_one_however_many_of_its_lines_were_seen() -> None:
    """As the viewer would else show it once for each line."""
    frames = tuple(
        Frame("main.work", "main.go", line, 8, "go", inlined=line == 11) for line in (9, 10, 11)
    )
    other = Frame("main.work", "other.go", 9, 8, "go")
    stacks = (((0,), 1), ((1,), 2), ((3,), 4), ((2, 0), 8))
    document = json.loads(
        speedscope.render(Weighed(frames=(*frames, other), stacks=stacks), title="")
    )
    [shown] = document["profiles"]
    assert shown["samples"] == [[0], [1], [0, 0]]
    assert shown["weights"] == [3, 4, 8]
    assert [one["file"] for one in document["shared"]["frames"]] == ["main.go", "other.go"]


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


@given(profiles())
def test_a_file_has_what_its_published_schema_asks_for_and_nothing_else(profile: Profile) -> None:
    """In our words, of file-format-schema.json: what each object must have, and what it may have."""
    document = json.loads(speedscope.render(profile, title="cart"))
    must, may = {"$schema", "profiles", "shared"}, {"name", "activeProfileIndex", "exporter"}
    assert must <= document.keys() <= must | may
    assert document.get("activeProfileIndex", 0) in range(len(document["profiles"]))
    assert document["shared"].keys() == {"frames"}
    for frame in document["shared"]["frames"]:
        assert {"name"} <= frame.keys() <= {"name", "file", "line", "col"}
        assert all(isinstance(frame.get(text, ""), str) for text in ("name", "file"))
        assert all(is_number(frame.get(place, 0)) for place in ("line", "col"))
    for shown in document["profiles"]:
        texts, numbers = {"type", "name", "unit"}, {"startValue", "endValue"}
        assert shown.keys() == texts | numbers | {"samples", "weights"}
        assert shown["type"] == "sampled"
        assert shown["unit"] in UNITS
        assert all(isinstance(shown[text], str) for text in texts)
        assert all(is_number(shown[one]) for one in numbers)
        assert all(is_number(weight) for weight in shown["weights"])
        assert all(is_number(frame) for stack in shown["samples"] for frame in stack)


UNITS = ("none", "bytes", "nanoseconds", "microseconds", "milliseconds", "seconds")


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
