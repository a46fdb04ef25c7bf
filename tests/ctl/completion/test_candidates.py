import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.completion.candidates import command_of, of_commands, of_options
from nemutator_ctl.completion.scripts import FILES
from nemutator_ctl.parsers import Parser

COMMANDS = {"mutations": "show changes", "missed": "show missed", "top": "show most"}


def made() -> Parser:
    parser = Parser(prog="nemutator try")
    parser.add_argument("what", nargs="?", choices=["nodes", "workloads"])
    parser.add_argument("-n", "--namespace", help="only this")
    parser.add_argument("-o", "--output", choices=["table", "json"], help="as")
    parser.add_argument("--config", metavar="FILE")
    return parser


def plain(lines: list[str]) -> list[str]:
    return [line.split("\t")[0] for line in lines]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["mutations", ""], (0, "mutations")),
        (["--context", "west", "mutations", "-"], (2, "mutations")),
        (["--context=west", "-A", "top", ""], (2, "top")),
        (["mut"], None),
        (["--context", "we"], None),
        ([""], None),
    ],
)
def test_where_the_command_stands(typed: list[str], found: tuple[int, str] | None) -> None:
    assert command_of(typed) == found


def test_commands_come_with_what_they_do() -> None:
    assert of_commands(["m"], COMMANDS) == ["mutations\tshow changes", "missed\tshow missed"]
    assert plain(of_commands([""], COMMANDS)) == list(COMMANDS)
    assert "--context" in plain(of_commands(["--con"], COMMANDS))
    assert of_commands(["--kubeconfig", ""], COMMANDS) == [FILES]
    assert of_commands(["--context", ""], COMMANDS) == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["--na"], ["--namespace"]),
        (["-o", ""], ["table", "json"]),
        (["-o", "j"], ["json"]),
        (["--output=t"], ["--output=table"]),
        (["--namespace", ""], []),
        (["--config", ""], [FILES]),
        ([""], ["nodes", "workloads"]),
        (["no"], ["nodes"]),
    ],
)
def test_what_may_come_behind_a_command(typed: list[str], found: list[str]) -> None:
    assert plain(of_options(typed, made())) == found


def test_options_come_with_what_they_mean_and_long() -> None:
    offered = of_options(["-"], made())
    assert "--namespace\tonly this" in offered
    assert all(line.startswith("--") for line in offered)


def test_verbs_are_offered_and_then_their_options() -> None:
    parser = Parser(prog="nemutator try")
    verbs = parser.add_subparsers(dest="verb")
    verbs.add_parser("set", help="keep it").add_argument("--rule")
    verbs.add_parser("get", help="print it")
    assert of_options(["s"], parser) == ["set\tkeep it"]
    assert plain(of_options(["set", "--r"], parser)) == ["--rule"]


@given(st.lists(st.text()))
def test_whatever_is_typed_nothing_breaks(words: list[str]) -> None:
    of_options(words, made())
    of_commands(words, COMMANDS)
    command_of(words)
