from nemutator_controller.oversell.documents import oversell_document

from tests.controller.oversell.test_verdicts import verdict


def test_each_node_is_said_in_cores_and_ratios() -> None:
    found = oversell_document([verdict()], most=3, at=5.0, now=9.0, problem="")
    assert (found["most"], found["age_s"]) == (3, 4.0)
    [item] = found["items"]
    assert (item["raw_cores"], item["allocatable_cores"], item["used_cores"]) == (4.0, 6.0, 1.0)
    assert (item["asked"], item["standing"], item["ratio"], item["could"]) == (1.5, 1.5, 1.5, 1.8)
    assert item["why"] == "it is what the policy asks for"


def test_what_is_not_known_is_null() -> None:
    unknown = verdict(used_millis=None, could=None, asked=None, waiting=None)
    found = oversell_document([unknown], most=0, at=0.0, now=9.0, problem="not yet")
    assert (found["age_s"], found["problem"]) == (None, "not yet")
    [item] = found["items"]
    assert [item[key] for key in ("used_cores", "could", "asked", "waiting")] == [None] * 4
