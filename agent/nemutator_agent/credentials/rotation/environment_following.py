"""Follows what a pod was given before this process began: variables it reads once, when it starts, and secrets when
it likes."""

from dataclasses import dataclass

from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_agent.credentials.ports import PodCallerHandler
from nemutator_agent.credentials.vault.failures import VaultError

BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(frozen=True, slots=True)
class EnvironmentFollower:
    handler: PodCallerHandler
    process: Process

    async def run(self) -> None:
        """Ends once all of it is followed."""
        failures = 0
        while True:
            try:
                return await self.handler.follow_before()
            except VaultError:
                # It is counted and recorded where Vault is asked.
                failures += 1
            roll = self.process.dice.random()
            await self.process.clock.sleep(BACKOFF.delay_s(failures, roll=roll))
