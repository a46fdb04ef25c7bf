"""The systemd of this machine, asked by its own command."""

import asyncio
import os
import subprocess
from collections.abc import Sequence

from nemutator_controller.units.refusals import UnitsUnavailableError
from nemutator_controller.units.unit_states import PROPERTIES, UnitState, state_of

DEADLINE_S = 30.0
"""A manager with thousands of units takes seconds to read all of its files."""

LONGEST = 1 << 16
"""Characters of what it says that are read."""

_QUIET = {"LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": "", "SYSTEMD_LOG_LEVEL": "err"}

ROOT = "run `nemutator up` as root: only root may change units of the system"
NOT_HERE = "units are sized where systemd runs as the first process"


class Systemctl:
    """A `UnitManager`; *command* begins what is run."""

    def __init__(self, command: Sequence[str] = ("systemctl",)) -> None:
        self._command = tuple(command)

    async def state(self, unit: str) -> UnitState | None:
        return state_of(await self._run("show", f"--property={','.join(PROPERTIES)}", "--", unit))

    async def reload(self) -> None:
        await self._run("daemon-reload")

    async def _run(self, *words: str) -> str:
        try:
            done = await asyncio.to_thread(
                subprocess.run,
                (*self._command, "--no-ask-password", *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=DEADLINE_S,
                env={**os.environ, **_QUIET},
            )
        except FileNotFoundError as error:
            raise UnitsUnavailableError("there is no systemctl here", NOT_HERE) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            what = "does not answer" if isinstance(error, subprocess.TimeoutExpired) else str(error)
            raise UnitsUnavailableError(f"systemctl {words[0]}: {what}", "ask again") from error
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())[:300]
            booted = "booted with systemd" in said or "Failed to connect to bus" in said
            raise UnitsUnavailableError(
                f"systemctl {words[0]}: {said or f'exit code {done.returncode}'}",
                NOT_HERE if booted else ROOT,
            )
        return done.stdout.decode(errors="replace")[:LONGEST]
