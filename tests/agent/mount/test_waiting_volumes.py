from nemutator_agent.mount.waiting_volumes import AGAIN, WaitingVolumes


def test_what_is_added_is_due_until_it_is_confirmed() -> None:
    waiting = WaitingVolumes()
    for name in ("b", "a"):
        waiting.add(name)
    assert (waiting.due(0), len(waiting), waiting.failing()) == (["a", "b"], 2, [])
    waiting.confirm("a")
    waiting.confirm("never there")
    assert waiting.due(0) == ["b"]
    assert "a" not in waiting


def test_what_has_failed_is_due_later_each_time_and_after_the_others() -> None:
    waiting = WaitingVolumes()
    for name in ("a", "b"):
        waiting.add(name)
    waiting.fail("a", 0.0, roll=0.5)
    assert (waiting.due(0), waiting.failing()) == (["b"], ["a"])
    assert waiting.due(AGAIN.first_s) == ["b", "a"]
    for _ in range(60):
        waiting.fail("a", 100.0, roll=0.99)
    assert waiting.due(100 + AGAIN.longest_s / 2) == ["b"]
    assert waiting.due(100 + AGAIN.longest_s) == ["b", "a"]


def test_what_has_changed_is_due_at_once() -> None:
    waiting = WaitingVolumes()
    waiting.fail("a", 0.0, roll=0.5)
    waiting.add("a")
    assert waiting.due(0) == ["a"]
    assert waiting.failing() == ["a"]
