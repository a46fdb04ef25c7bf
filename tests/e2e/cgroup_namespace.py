"""Run in a cgroup namespace of its own, as the credentials container is with version 2.

Reads one question as JSON, prints for each process that it names `yes`, or why it is refused.
"""

import json
import sys
from pathlib import Path

from nemutator_agent.identity.attestors import LearningPodAttestor
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError


def as_with_version_2(pid: object) -> str:
    """The kernel's text, less the hierarchies that a machine of version 2 does not have."""
    lines = Path("/proc", str(pid), "cgroup").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("0::"))


def main() -> int:
    print(as_with_version_2("self"), end="", flush=True)
    question = json.loads(sys.stdin.readline())
    witness = LearningPodAttestor(as_with_version_2("self"), question["setting"])
    witness.learn(question["told"])
    print(json.dumps([_answer(witness, pid, uid) for pid, uid in question["asked"]]))
    return 0


def _answer(witness: LearningPodAttestor, pid: int, uid: str) -> str:
    try:
        witness.admit(ProcessFacts(as_with_version_2(pid), 1, None), uid)
    except AttestationError as refused:
        return refused.step
    return "yes"


if __name__ == "__main__":
    sys.exit(main())
