from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.up.announcement import Standing, Unseen, announcement


def told(
    *,
    data_dir: str = "/data",
    named: bool = True,
    processes: tuple[Standing, ...] = (),
    unseen: tuple[Unseen, ...] = (),
    link: str | None = "http://127.0.0.1:8420/open?key=x",
) -> str:
    return announcement(
        version="0.1.0",
        program="nemutator",
        data_dir=Path(data_dir),
        named=named,
        processes=processes,
        unseen=unseen,
        link=link,
    )


def test_each_process_stands_with_its_pid_and_its_state() -> None:
    lines = told(
        processes=(
            Standing("brain", 7, "", None),
            Standing("observe", None, "as root", "it does not answer yet"),
        )
    ).splitlines()
    assert "  brain        pid 7         ready" in lines
    assert "  observe                    not ready: it does not answer yet" in lines


def test_a_note_stands_behind_the_state() -> None:
    assert "ready, as root" in told(processes=(Standing("observe", 7, "as root", None),))


def test_each_missing_fact_stands_with_its_remedy() -> None:
    text = told(unseen=(Unseen("stacks", "no BPF", "run as root"),))
    assert "    stacks: no BPF\n      remedy: run as root\n" in text


def test_the_commands_can_be_copied_whatever_the_directory_is_called() -> None:
    assert "nemutator topology --data-dir '/a b'" in told(data_dir="/a b")
    assert "--data-dir" not in told(named=False)


def test_without_a_link_it_says_how_to_get_one() -> None:
    assert "`nemutator link` prints a link once" in told(named=False, link=None)


@given(st.text(), st.text())
def test_what_strangers_say_cannot_draw_on_the_terminal(said: str, problem: str) -> None:
    text = told(
        processes=(Standing("brain", 1, said, problem or None),),
        unseen=(Unseen(said, problem, said),),
    )
    assert all(line.isprintable() for line in text.split("\n"))
