import asyncio

from nemutator_agent.credentials.rotation.environment_following import BACKOFF, EnvironmentFollower
from nemutator_agent.credentials.vault.failures import VaultUnavailableError

from tests.agent.credentials.files.test_following import Pod as PodWithFiles
from tests.fakes.clocks import ManualClock
from tests.fakes.pod_folders import MemoryPodFolder
from tests.fakes.process import fake_process


class Pod(PodWithFiles):
    """Its variables can be followed once Vault has been away for some tries."""

    def __init__(self, failures: int) -> None:
        super().__init__(MemoryPodFolder())
        self.failures = failures
        self.tries = 0

    async def follow_before(self) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            raise VaultUnavailableError("down", "nobody answers")


async def test_they_are_followed_once_vault_answers() -> None:
    clock, pod = ManualClock(), Pod(failures=3)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        following = tasks.create_task(EnvironmentFollower(pod, fake_process(clock=clock)).run())
        await clock.until_sleeping()
        assert pod.tries == 1
        await clock.advance(3 * BACKOFF.longest_s)
        await following
    assert pod.tries == 4
