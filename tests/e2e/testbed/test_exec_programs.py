"""The committed programs of nemutator-exec are what the recorded compiler makes of the committed sources."""

import os
import subprocess

from tests.house.tree import REPOSITORY
from tests.testbed.building import made, unpacked
from tests.testbed.fixtures import skipped_when_missing


def test_compiling_them_again_gives_the_same_bytes() -> None:
    with skipped_when_missing():
        root = made.debian("bpf")
    environment = os.environ | unpacked.environment(root)
    for variable, name in (("CLANG", "clang-14"), ("LLD", "ld.lld-14")):
        environment[variable] = str(unpacked.program(root, name))
    checked = subprocess.run(
        [REPOSITORY / "scripts" / "exec-programs", "--check"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "the committed programs are what LLVM 14.0.6 makes" in checked.stdout
