"""Thousands of agents with the real client and real connections lose their brain, again and again."""

import os
import random
import resource
from pathlib import Path

import pytest
from nemutator_common import names

from tests.fakes import reconnecting
from tests.fakes.reconnecting import Agents, Brain

AGENTS = int(os.environ.get("DRILL_AGENTS", "3000"))
OUTAGES = int(os.environ.get("DRILL_OUTAGES", "5"))
HANDSHAKES = 3
"""So few, because client and server share an event loop, where no more would be under way."""


@pytest.mark.timeout(3600)
async def test_thousands_of_agents_that_come_back_again_and_again_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Client and server of each handshake have one core between them, and that with other work.
    monkeypatch.setattr(reconnecting, "PATIENCE_S", max(240.0, AGENTS * 0.2))
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    brain = Brain(tmp_path, handshakes=HANDSHAKES)
    agents = Agents(brain, AGENTS)
    # Some answers are lost, and some reports refused.
    brain.busy = random.Random(AGENTS).randrange(50, 100)
    async with brain.living():
        pass
    async with agents.running():
        for outage in range(1, OUTAGES + 1):
            agents.report()
            async with brain.living():
                await brain.until_each_has(AGENTS, outage)
    expected = list(range(1, OUTAGES + 1))
    assert brain.counts() == {f"e{number}": expected for number in range(AGENTS)}
    assert brain.most_handshakes == HANDSHAKES
    refused = brain.meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="too_many")
    sent = sum(len(batch.envelopes) for batch in brain.link.batches)
    print(
        f"\n{AGENTS} agents, {OUTAGES} outages: {len(expected) * AGENTS} reports stored once each,"
        f" {sent} sent; {brain.most_handshakes:.0f} handshakes at once, {refused:.0f} connections refused"
    )
