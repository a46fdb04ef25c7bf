from tests.fakes.rolls import WEB, roll


def test_a_roll_is_open_until_it_is_finished() -> None:
    assert all(roll().then(state).is_open for state in ("waiting", "rolling", "held"))
    assert not any(roll().then(state).is_open for state in ("done", "stopped", "failed"))
    assert len(roll().then("failed", why="x" * 5000).why) == 300


def test_a_workload_is_named_as_people_name_it() -> None:
    assert str(WEB) == "Deployment shop/web"
