"""Follows the variables of a pod that is to be made anew when one of them changes.

A pod reads them once, when it starts, and that may have been before this process began.
"""

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
        """Ends once each variable is followed."""
        failures = 0
        while True:
            try:
                return await self.handler.follow_environment()
            except VaultError:
                # It is counted and recorded where Vault is asked.
                failures += 1
            roll = self.process.dice.random()
            await self.process.clock.sleep(BACKOFF.delay_s(failures, roll=roll))
