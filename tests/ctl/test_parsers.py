import pytest
from nemutator_ctl.parsers import Parser, ParserFoundError, seeking


def made() -> Parser:
    parser = Parser(prog="nemutator try", allow_abbrev=False)
    parser.add_argument("-n", "--namespace", help="only of 100%% of this one")
    parser.add_argument("-o", "--output", choices=["table", "json"], help="%(default)s")
    parser.add_argument("--file", metavar="FILE")
    parser.add_argument("--yes", action="store_true")
    return parser


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("--namespce=a", "--namespace"), ("--outptu", "--output"), ("--ys", "--yes")],
)
def test_an_option_that_is_not_understood_suggests_what_was_meant(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        made().parse_args([typed])
    assert left.value.code == 2
    assert f"(did you mean {meant}?)" in capsys.readouterr().err


def test_what_is_like_nothing_suggests_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        made().parse_args(["--qqqqqqqqq"])
    assert "did you mean" not in capsys.readouterr().err


def test_who_asks_for_another_cluster_is_told_whom_to_ask(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = made()
    # Which is more like it.
    parser.add_argument("--datadog-cluster")
    parser.add_argument("--context")
    with pytest.raises(SystemExit):
        parser.parse_args(["--cluster=west"])
    said = capsys.readouterr().err
    assert "only its own brain knows this of another cluster: ask it, with --context" in said
    assert "did you mean" not in said


def test_an_option_behind_a_verb_that_stands_before_it_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = made()
    parser.add_subparsers(dest="verb").add_parser("list")
    with pytest.raises(SystemExit):
        parser.parse_args(["list", "--file", "a"])
    assert (
        "unrecognized arguments: --file a (write --file before the verb)" in capsys.readouterr().err
    )


def test_an_option_that_names_nothing_does_not_choose_everything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = made()
    parser.refuse_empty(parser.parse_args([]), "namespace", "file")
    parser.refuse_empty(parser.parse_args(["-A", "--file=a"]), "namespace", "file")
    with pytest.raises(SystemExit) as left:
        parser.refuse_empty(parser.parse_args(["-n", "", "--file=a"]), "namespace", "file")
    assert left.value.code == 2
    assert "--namespace is empty: name something, or leave it out" in capsys.readouterr().err


def test_all_namespaces_can_be_said_where_one_can() -> None:
    for words in (["-A"], ["--all-namespaces"], ["-n", "shop", "-A"], []):
        assert made().parse_args(words).namespace is None
    assert made().parse_args(["-n", "shop"]).namespace == "shop"


def test_a_command_is_asked_for_its_parser_and_does_nothing() -> None:
    with seeking(), pytest.raises(ParserFoundError) as found:
        made().parse_args(["--whatever"])
    known = {each.words: each for each in found.value.parser.understood()}
    assert known["-o", "--output"].choices == ("table", "json")
    assert known["-o", "--output"].takes_value
    assert not known["--yes",].takes_value
    assert known["--file",].is_file
    assert known["-n", "--namespace"].meaning == "only of 100% of this one"
    assert made().parse_args(["--yes"]).yes  # outside, it parses again


def test_verbs_have_parsers_of_their_own() -> None:
    parser = Parser(prog="nemutator try")
    verbs = parser.add_subparsers(dest="what")
    verbs.add_parser("list", help="show them").add_argument("--limit")
    assert [(e.words, e.meaning) for e in parser.understood()[1:]] == [(("list",), "show them")]
    inner = parser.verb("list")
    assert inner is not None
    assert ("--limit",) in {each.words for each in inner.understood()}
    assert parser.verb("lost") is None
    assert made().verb("list") is None
