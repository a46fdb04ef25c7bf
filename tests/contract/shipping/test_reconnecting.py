"""What ten thousand agents do after an outage, with a hundred of them and real connections."""

from pathlib import Path

from nemutator_common import names

from tests.fakes.reconnecting import Agents, Brain

AGENTS, HANDSHAKES = 120, 3


async def test_agents_that_come_back_at_once_take_turns_and_lose_nothing(
    tmp_path: Path,
) -> None:
    brain = Brain(tmp_path, handshakes=HANDSHAKES)
    async with brain.living():
        pass
    agents = Agents(brain.where, brain.ca, range(AGENTS))
    async with agents.running():
        async with brain.living():
            agents.report()
            await brain.until_each_has(AGENTS, 1)
        agents.report()
        agents.report()
        async with brain.living():
            await brain.until_each_has(AGENTS, 3)
    assert brain.counts() == {f"e{number}": [1, 2, 3] for number in range(AGENTS)}
    assert brain.most_handshakes == HANDSHAKES
    refused = brain.meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="too_many")
    print(f"{AGENTS} agents: {brain.most_handshakes:.0f} handshakes at once, {refused:.0f} refused")
    assert [stream.dropped for stream in agents.streams] == [0] * AGENTS


async def test_answers_that_are_lost_and_refusals_make_no_report_count_twice(
    tmp_path: Path,
) -> None:
    brain = Brain(tmp_path, handshakes=HANDSHAKES)
    brain.busy = 5
    async with brain.living():
        pass
    agents = Agents(brain.where, brain.ca, range(100))
    async with agents.running(), brain.living():
        for _ in range(3):
            agents.report()
        await brain.until_each_has(100, 3)
    assert brain.counts() == {f"e{number}": [1, 2, 3] for number in range(100)}
    sent = sum(len(batch.envelopes) for batch in brain.link.batches)
    assert sent >= 300
