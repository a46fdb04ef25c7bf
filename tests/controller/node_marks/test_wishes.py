"""What each wants on a node, and that what cannot be told is left as it is."""

from nemutator_common import names
from nemutator_controller.node_marks.marks import MarkedNode
from nemutator_controller.node_marks.pressure import NodePressures, PressureSample
from nemutator_controller.node_marks.wishes import PlacementMarks, PressureMarks, ReserveMarks

NODE = MarkedNode(name="n", uid="u", version="1", labels={"pool": "reserve"})


def test_a_grade_of_pressure_is_the_value_of_a_taint() -> None:
    pressures = NodePressures()
    wishes = PressureMarks(pressures)
    assert wishes.wanted(NODE) is None
    for number in range(10):
        pressures.see("n", PressureSample(float(number), 0.5, 0.0, 0.0))
        pressures.assess(now=float(number))
    found = wishes.wanted(NODE)
    assert found is not None
    assert found.words == {names.PRESSURE: "2:PreferNoSchedule"}


def test_a_node_without_pressure_bears_none() -> None:
    pressures = NodePressures()
    for number in range(10):
        pressures.see("n", PressureSample(float(number), 0.0, 0.0, 0.0))
        pressures.assess(now=float(number))
    found = PressureMarks(pressures).wanted(NODE)
    assert found is not None
    assert not found.words


def test_a_score_is_a_label_that_does_not_flap() -> None:
    wishes = PlacementMarks()
    assert wishes.wanted(NODE) is None
    said = []
    for score in (0.7, 0.7, 0.55, 0.7, 0.1, 0.1, 0.1, 0.1, 0.1):
        wishes.see({"n": score})
        found = wishes.wanted(NODE)
        assert found is not None
        said.append(found.words.get(names.PLACEMENT_GRADE, "-"))
    assert said == ["-", "3", "3", "3", "3", "3", "3", "3", "-"]
    wishes.see({})
    assert wishes.wanted(NODE) is None


def test_a_reserve_is_closed_until_a_season_opens_it() -> None:
    is_open: bool | None = False
    wishes = ReserveMarks(lambda labels: labels.get("pool") == "reserve", lambda: is_open)
    closed = wishes.wanted(NODE)
    assert closed is not None
    assert closed.words == {names.RESERVE: ":NoSchedule"}
    other = wishes.wanted(MarkedNode(name="m", uid="v", version="1"))
    assert other is not None
    assert not other.words
    is_open = True
    opened = wishes.wanted(NODE)
    assert opened is not None
    assert not opened.words
    is_open = None
    assert wishes.wanted(NODE) is None
