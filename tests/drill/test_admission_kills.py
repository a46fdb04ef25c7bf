"""Admission and the brain are killed two hundred times while pods are created: no mutation is unexplained.

Each patch that an API server has got has its record in the journal once all runs again, and each record has
its patch, or a request whose answer was lost with the process that had decided it.
"""

import asyncio
import contextlib
import json
import os
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.drill.admission_replicas import AdmissionReplicas, DrilledProcess, standing

KILLS = int(os.environ.get("DRILL_KILLS", "200"))
LONGEST_S = 60 * float(os.environ.get("DRILL_MINUTES", "100"))
"""Where that is not enough for all kills, as on a machine that does much else, the report says how many there
were."""
CREATORS = 4
PAUSE_S = 0.05
LIFE_S = 3.0
ANSWER_S = 0.02
UNREADY = 0.2
"""Of all kills: as it starts, and recovers what the one before has left."""
HOURS_S = 2 * 3600


@dataclass(slots=True)
class Killing:
    cluster: AdmissionReplicas
    until: float
    kills: Counter[str] = field(default_factory=Counter)

    @property
    def goes_on(self) -> bool:
        return self.kills.total() < KILLS and time.monotonic() < self.until

    async def kill_again_and_again(self, process: DrilledProcess) -> None:
        endpoints, dice = self.cluster.endpoints, self.cluster.dice
        while self.goes_on:
            if dice.random() >= UNREADY:
                await process.until_ready()
                if process is not self.cluster.brain and process not in endpoints:
                    endpoints.append(process)
            await asyncio.sleep(dice.uniform(0, LIFE_S))
            process.asked.clear()
            if process in endpoints:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.asked.wait(), LIFE_S)
                # The moment of the kill is what is drilled: most answers take less.
                await asyncio.sleep(dice.uniform(0, ANSWER_S))
            process.assert_running()
            await process.kill()
            self.kills[process.role] += 1
            if process in endpoints:
                endpoints.remove(process)
            await process.start()
        await process.until_ready()


@pytest.mark.timeout(HOURS_S)
async def test_no_mutation_is_unexplained_after_kills(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="drill-"))  # its logs are kept
    async with standing(folder, random.Random(KILLS), "a", "b") as cluster:
        await cluster.start_all()
        killing, enough = Killing(cluster, began + LONGEST_S), asyncio.Event()
        async with asyncio.TaskGroup() as creating:
            for _ in range(CREATORS):
                creating.create_task(cluster.create_pods(enough, pause_s=PAUSE_S))
            async with asyncio.TaskGroup() as group:
                for process in cluster.processes:
                    group.create_task(killing.kill_again_and_again(process))
            enough.set()
        made, journal = cluster.made, await cluster.complete_journal()
        unexplained = list(cluster.unexplained(journal))
        summary = {
            "drill": "admission-kills",
            "kills": dict(killing.kills),
            "reviews": made.asked,
            "patches": len(made.edits),
            "records": len(journal),
            "records_whose_answer_was_lost": len(journal.keys() - made.edits.keys()),
            "unexplained": len(unexplained),
            "unanswered": dict(Counter(made.unanswered.values())),
            "let_in_with_a_warning": dict(made.told),
            "unchanged_without_a_word": len(made.unexplained),
            "states": dict(Counter(record["state"] for record in journal.values())),
            "seconds": round(time.monotonic() - began, 1),
            "logs": str(folder),
        }
        with capsys.disabled():
            print(f"\n{json.dumps(summary)}")
        assert unexplained == []
        assert made.unexplained == []
        assert made.edits
