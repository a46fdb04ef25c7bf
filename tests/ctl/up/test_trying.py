from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.up.trying import Places, Tries, told

DATA = Path("/data dir")
PLACES = Places(data_dir=DATA, socket=DATA / "agent.sock", objects=DATA / "objects")


def text(tries: Tries, *, named: bool = False) -> str:
    return told(tries, PLACES, program="nemutator", named=named)


def test_each_job_has_a_command_that_can_be_copied() -> None:
    said = text(Tries(secret="greeting", mutation="7f", pid=12), named=True)
    option = "--data-dir '/data dir'"
    assert (
        "curl --silent --unix-socket '/data dir/agent.sock' http://nemutator/v1/secret/greeting\n"
        in said
    )
    assert f"nemutator profile {option} pid:12 --seconds 10\n" in said
    assert f"nemutator advise {option}\n" in said
    assert f"nemutator rollback {option} 7f\n" in said


def test_what_is_not_there_cannot_be_tried() -> None:
    said = text(Tries())
    assert "curl" not in said
    assert "profile" not in said
    assert "rollback" not in said
    assert "nemutator advise\n" in said


def test_where_nothing_can_be_taken_back_it_is_told_how_to_make_something() -> None:
    said = text(Tries(secret="greeting"), named=True)
    assert "nemutator rollback" not in said
    assert "nothing is left to take back" in said
    file = "'/data dir/objects/Deployment/sample/shop.json'"
    assert f"nemutator apply --data-dir '/data dir' {file}\n" in said


def test_a_flame_graph_is_told_once_it_is_there() -> None:
    assert "flame graph" not in text(Tries().of(3))
    assert "flame graph" in text(Tries().seen(3))


def test_what_is_missing_is_told_with_its_remedy() -> None:
    said = text(Tries().of(3).without("no BPF\n  remedy: run as root"))
    assert "  Not shown\n    no BPF\n      remedy: run as root\n" in said


@given(st.text())
def test_what_others_say_cannot_draw_on_the_terminal(problem: str) -> None:
    assert text(Tries().without(problem)).replace("\n", "").isprintable()
