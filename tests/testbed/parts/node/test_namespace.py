"""The script of the mounts is a shell's, whatever the folders are called."""

import shlex
import subprocess
from pathlib import Path

from tests.testbed.parts.node.namespace import Namespace, script_of

FOLDER = Path("/tmp/it's a folder; $(false)")


def test_it_covers_and_shares_and_then_becomes_the_program() -> None:
    script = script_of(
        {"/var/lib": FOLDER / "lib"}, {"kernel/panic": FOLDER / "panic"}, FOLDER / "shared"
    )
    subprocess.run(["sh", "-n"], input=script, text=True, check=True, timeout=60)
    first, *mounts, last = map(shlex.split, script.splitlines())
    assert first == ["set", "-eu"]
    assert last == ["exec", "$@"]
    assert mounts == [
        ["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run"],
        [
            "mount", "-t", "overlay", "-o",
            f"lowerdir=/var/lib,upperdir={FOLDER}/lib/upper,workdir={FOLDER}/lib/work",
            "overlay", "/var/lib",
        ],
        ["mount", "--bind", f"{FOLDER}/panic", "/proc/sys/kernel/panic"],
        ["mount", "--bind", f"{FOLDER}/shared", f"{FOLDER}/shared"],
        ["mount", "--make-rshared", "/"],
    ]  # fmt: skip


def test_a_program_is_started_in_it_or_beside_one_that_is_there() -> None:
    script = Path("/run-of-ours/namespace.sh")
    new = ["unshare", "--mount", "--propagation=private", "--", "sh", script, "true", "-x"]
    assert Namespace(script).new("true", "-x") == new
    assert Namespace.of(7, "true", "-x") == [
        "nsenter",
        "--mount=/proc/7/ns/mnt",
        "--",
        "true",
        "-x",
    ]
