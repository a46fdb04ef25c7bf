import dataclasses

import pytest
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgedWorkload, Verdict
from nemutator_controller.app.sizing import GROWS, LeakingMemory
from nemutator_controller.sizing.keys import PROGRAM, ContainerKey

from tests.controller.ageing.test_findings import finding

LEAKING = AgedWorkload("shop", "Deployment", "cart", "app", "a-program-with-a-long-name")


@pytest.mark.parametrize(
    ("key", "leaks"),
    [
        (ContainerKey("shop", "Deployment", "cart", "app"), True),
        (ContainerKey("shop", "Deployment", "cart", "proxy"), False),
        (ContainerKey("other", "Deployment", "cart", "app"), False),
        (ContainerKey("shop", PROGRAM, "a-program-with-", "-"), True),
        (ContainerKey("shop", PROGRAM, "a-program", "-"), False),
    ],
)
def test_memory_is_left_out_of_the_workload_that_leaks_alone(
    key: ContainerKey, leaks: bool
) -> None:
    findings = Findings()
    findings.replace(dataclasses.replace(finding(), workload=LEAKING, verdict="leak"))
    assert LeakingMemory(findings).of(key) == (GROWS if leaks else None)


def test_what_is_steady_is_sized_and_so_is_what_leaks_no_more() -> None:
    findings, key = Findings(), ContainerKey("shop", "Deployment", "cart", "app")
    memory = LeakingMemory(findings)
    steps: tuple[tuple[Verdict, str | None], ...]
    steps = ("steady", None), ("leak", GROWS), ("drift", None), ("leak", GROWS)
    for verdict, told in steps:
        findings.replace(dataclasses.replace(finding(), workload=LEAKING, verdict=verdict))
        assert memory.of(key) == told
    findings.keep_only(frozenset())
    assert memory.of(key) is None
