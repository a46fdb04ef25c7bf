"""Files of strangers that `nemutator flame` and `nemutator diff` are given: named as what they are, or
shown, in little memory."""

import gzip
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_common.profiles.pprof_decoder import LARGEST, MOST_STACKED
from nemutator_common.profiles.pprof_messages import messages

LIMITED = 'ulimit -v 786432; exec "$@"'
"""KiB of addresses: what swells beyond them ends with a traceback."""

SCRIPT = b"<script>alert(1)</script>"


def nemutator(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", LIMITED, "sh", sys.executable, "-m", "nemutator_ctl", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def written(*, name: bytes = b"f", stacks: Sequence[int] = (1,), weight: int = 5) -> bytes:
    """A profile of one function, in so many stacks of such depths."""
    kinds = messages()
    profile = kinds.Profile(
        sample_type=[kinds.ValueType(type=2, unit=3).SerializeToString()],
        string_table=[b"", name, b"samples", b"count"],
        function=[kinds.Function(id=1, name=1).SerializeToString()],
        location=[kinds.Location(id=1, line=[{"function_id": 1}]).SerializeToString()],
        sample=[
            kinds.Sample(location_id=[1] * depth, value=[weight]).SerializeToString()
            for depth in stacks
        ],
        period=1,
    )
    return gzip.compress(bytes(profile.SerializeToString()))


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "zeros": (lambda: gzip.compress(bytes(LARGEST + 1)), f"more than {LARGEST} bytes"),
    "a bomb in a bomb": (
        lambda: gzip.compress(gzip.compress(bytes(1 << 28))),
        "a message in it is malformed",
    ),
    "half of a file": (lambda: written()[:-9], "no profile"),
    "frames without end": (lambda: written(stacks=[1_000_000] * 3), f"more than {MOST_STACKED}"),
    "nothing": (lambda: b"", "no stack is in it"),
    "a weight of 5000 digits": (lambda: b"a;b " + b"9" * 5000, "does not end with the weight"),
    "a weight below nothing": (lambda: b"a;b -5\n", "does not end with the weight"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_shown_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    made, said = REFUSED[kind]
    file = tmp_path / "bomb"
    file.write_bytes(made())
    ran = nemutator("flame", file, "-o", tmp_path / "out.html")
    assert (ran.returncode, ran.stdout) == (ExitCode.USAGE, "")
    assert said in ran.stderr
    assert "remedy: " in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "out.html").exists()


SHOWN: dict[str, Callable[[], bytes]] = {
    "a name of 1 MB that is a page": lambda: written(name=SCRIPT + b"A" * (1 << 20)),
    "a name that steers a terminal": lambda: written(name=b"\x1b[31m\r\n\x07" + SCRIPT),
    "folded names of 1 MB": lambda: SCRIPT + b"b" * (1 << 20) + b";\x1b[2Jc 3\n",
    "a stack of a million frames": lambda: written(stacks=[1_000_000]),
    "weights beyond all numbers": lambda: written(stacks=[1] * 50, weight=(1 << 63) - 1),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_what_can_be_shown_is_and_harms_nobody(kind: str, tmp_path: Path) -> None:
    file, page = tmp_path / "odd", tmp_path / "out.html"
    file.write_bytes(SHOWN[kind]())
    ran = nemutator("flame", file, "-o", page)
    assert (ran.returncode, ran.stderr) == (ExitCode.OK, f"saved: {page}\n")
    assert all(one.isprintable() for one in ran.stdout.splitlines())
    assert len(ran.stdout) < 10_000
    content = page.read_bytes()
    assert SCRIPT not in content
    assert b"\x1b" not in content
    assert len(content) < 1_000_000


def test_a_bomb_beside_a_good_file_is_named_in_a_comparison(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(written())
    bad.write_bytes(REFUSED["zeros"][0]())
    ran = nemutator("diff", good, bad)
    assert ran.returncode == ExitCode.USAGE
    assert f"{bad}: no profile: more than" in ran.stderr
