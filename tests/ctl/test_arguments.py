import argparse

import pytest
from nemutator_ctl.arguments import add_cluster, of_cluster, seconds


def asked(*words: str) -> str:
    made = argparse.ArgumentParser()
    add_cluster(made)
    return of_cluster(made.parse_args(words), "/api/v1/nodes")


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ((), "/api/v1/nodes"),
        (("--cluster", "east"), "/api/v1/clusters/east/nodes"),
        (("--cluster", "a/b?c#é .."), "/api/v1/clusters/a%2Fb%3Fc%23%C3%A9%20../nodes"),
    ],
)
def test_the_cluster_that_is_named_is_part_of_the_path(words: tuple[str, ...], path: str) -> None:
    assert asked(*words) == path


def test_a_cluster_without_a_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        asked("--cluster=")
    assert "expected the name of a cluster" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "soon", ""])
def test_seconds_are_a_number_that_json_has(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected a number of seconds"):
        seconds(text)
    assert seconds("1.5") == 1.5
