"""Makes the recordings beside it: what is read of real Go programs, and nothing else of them.

    python tests/golden/go/record.py      (needs Go; run where nemutator is installed)

Each is `{"version", "built_with", "reads": [[offset, size, hex], …]}`.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from nemutator_agent.inspection.examination import examine

PROGRAM = "package main\n\nfunc main() { println(1) }\n"
BUILDS = {
    "plain": ([], {}),
    "stripped": (["-ldflags=-s -w", "-trimpath"], {}),
    "pie": (["-buildmode=pie"], {}),
    "arm": ([], {"GOARCH": "arm"}),
    "s390x": ([], {"GOARCH": "s390x"}),
}


def record(name: str, flags: list[str], environment: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "main.go"), Path(folder, "main")
        source.write_text(PROGRAM)
        subprocess.run(
            ["go", "build", *flags, "-o", program, source],
            check=True,
            env={**os.environ, "CGO_ENABLED": "0", **environment},
        )
        content = program.read_bytes()
    reads: list[tuple[int, int, str]] = []

    def read_at(offset: int, size: int) -> bytes:
        piece = content[offset : offset + size]
        reads.append((offset, size, piece.hex()))
        return piece

    verdict = examine(read_at)
    told = {"version": verdict.version, "built_with": [*flags, environment], "reads": reads}
    Path(__file__).with_name(f"{name}.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    for name, (flags, environment) in BUILDS.items():
        record(name, flags, environment)
