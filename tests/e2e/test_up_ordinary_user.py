"""`nemutator up` as somebody who is not root: it works, and names what it cannot see."""

import contextlib
import os
from pathlib import Path

import psutil

from tests.e2e.standing import START_S, Person, standing


def test_an_ordinary_user_gets_a_product_that_says_what_it_cannot_see(
    home: Path, ordinary: Person
) -> None:
    with standing(home, "--privileges", "never", person=ordinary) as up:
        uid = os.geteuid() if ordinary.uid is None else ordinary.uid
        for pid in up.family():
            # One that was asked for a moment, like the version of a tool, may have ended since.
            with contextlib.suppress(psutil.NoSuchProcess):
                assert {*psutil.Process(pid).uids()} == {uid}
        # What takes long is shown once more when it is ready.
        why = "as an ordinary user: privileges=never"
        up.wait_until(lambda: why in up.said(), "why it is no root", within_s=START_S)
        said = up.said()
        (node,) = up.api("/api/v1/topology").document["nodes"]
        assert node["processes"]
        if os.geteuid() == 0:
            # There are processes of another user, root, whose executables it may not read.
            assert node["missing"]
        for fact in node["missing"]:
            assert fact["why"]
            assert fact["remedy"]
            assert fact["what"][:60] in said
        table = up.run("topology")
        assert table.code == 0, table.stderr
        assert "NAME" in table.stdout
        assert up.another_link()
        assert "Traceback" not in said


def test_without_a_terminal_nobody_is_asked_and_nothing_is_raised(
    home: Path, ordinary: Person
) -> None:
    with standing(home, person=ordinary) as up:
        why = "as an ordinary user: there is no "
        up.wait_until(lambda: why in up.said(), "why it is no root", within_s=START_S)
        assert "[y/N]" not in up.said()
