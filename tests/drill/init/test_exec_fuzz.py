"""libFuzzer searches the parser of nemutator-exec for a byte too far (ASan) and for what C does not define."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.fakes.exec_program import http
from tests.house.tree import REPOSITORY
from tests.testbed.building import made, unpacked
from tests.testbed.fixtures import skipped_when_missing

SECONDS = 120

REFUSAL = {"error": "Vault denies ü", "remedy": 'do "this"', "step": "vault"}
SEEDS = (
    http(200, b"TOKEN=hunter2\0EMPTY=\0"),
    http(200, b""),
    http(403, json.dumps(REFUSAL).encode(), "Retry-After: 5"),
    b"TOKEN=hunter2\0EMPTY=\0",
    json.dumps(REFUSAL).encode(),
)


@pytest.mark.timeout(SECONDS + 240)
def test_no_answer_makes_the_parser_do_what_it_must_not(tmp_path: Path) -> None:
    if not Path("/usr/include/stdlib.h").exists():
        pytest.skip("no C library to build the fuzzer with: apt-get install libc6-dev")
    with skipped_when_missing():
        root = made.debian("bpf")
    environment = os.environ | unpacked.environment(root)
    fuzzer, seeds = tmp_path / "fuzz", tmp_path / "seeds"
    subprocess.run(
        [
            *(unpacked.program(root, "clang-14"), "-g", "-O1", "-std=c11", "-o", fuzzer),
            *("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"),
            REPOSITORY / "initcontainer/exec/fuzz.c",
        ],
        env=environment,
        check=True,
    )
    seeds.mkdir()
    for number, seed in enumerate(SEEDS):
        (seeds / str(number)).write_bytes(seed)
    limits = (f"-max_total_time={SECONDS}", "-max_len=9000", "-timeout=10", "-rss_limit_mb=1024")
    done = subprocess.run(
        [fuzzer, *limits, f"-artifact_prefix={tmp_path}/", seeds],
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr[-4000:]
