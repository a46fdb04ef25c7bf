"""`nemutator flame` and `nemutator diff` as processes, on files that several tools have written."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_common.profiles import folded, pprof

from tests.common.profiles.made import small


def nemutator(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def cart(tmp_path: Path) -> Path:
    file = tmp_path / "cart.pb.gz"
    file.write_bytes(pprof.encode(small()))
    return file


def test_profiles_of_replicas_are_one(cart: Path, tmp_path: Path) -> None:
    ran = nemutator("flame", cart, cart, "-o", tmp_path / "both.pb.gz")
    assert (ran.returncode, ran.stderr) == (ExitCode.OK, f"saved: {tmp_path}/both.pb.gz\n")
    assert ran.stdout.startswith("cart.pb.gz, cart.pb.gz: 20 samples in 20.0 s at 100 Hz")
    assert pprof.decode((tmp_path / "both.pb.gz").read_bytes()).recorded == 20


@pytest.mark.parametrize("end", [".html", ".folded", ".speedscope.json"])
def test_they_are_drawn_and_written_for_other_tools(cart: Path, tmp_path: Path, end: str) -> None:
    made = tmp_path / f"cart{end}"
    assert nemutator("flame", cart, "--title", "the cart", "-o", made).returncode == ExitCode.OK
    content = made.read_text()
    if end == ".html":
        assert "<title>the cart</title>" in content
    elif end == ".folded":
        assert content == folded.render(small())
    else:
        assert json.loads(content)["name"] == "the cart"


def test_two_are_compared_and_drawn(cart: Path, tmp_path: Path) -> None:
    after = tmp_path / "after.pb.gz"
    grown = dataclasses.replace(small(), stacks=(((2, 1, 0), 16), ((0,), 1)), recorded=17)
    after.write_bytes(pprof.encode(grown))
    ran = nemutator("diff", cart, after, "-o", tmp_path / "both.html")
    assert ran.returncode == ExitCode.OK
    assert "main.add" in ran.stdout
    assert '"difference":' in (tmp_path / "both.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("flame", "none.pb.gz"), "No such file"),
        (("flame", "{cart}", "{text}"), "these files are not of one kind"),
        (("flame", "{cart}", "-o", "x.svg"), "the end of the name decides"),
        (("diff", "{cart}", "{text}"), "these two cannot be compared"),
        (("diff", "{cart}", "{cart}", "-o", "x.folded"), "saved as a drawing alone"),
    ],
)
def test_what_cannot_be_done_is_named(
    cart: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    text = tmp_path / "x.folded"
    text.write_text("a;b 3\n")
    ran = nemutator(*(word.format(cart=cart, text=text) for word in words))
    assert ran.returncode == ExitCode.USAGE
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
