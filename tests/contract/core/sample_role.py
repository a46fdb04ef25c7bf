"""A process of ours with one role, whose end the tests choose: run as a script."""

import asyncio
import sys
from dataclasses import dataclass
from typing import ClassVar, Literal

from nemutator_common import launching, names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.launching import Role
from nemutator_common.settings import Shared, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSettings(Shared):
    role: ClassVar[str] = names.OBSERVE

    end: Literal["wait", "return", "operator", "group", "defect"] = setting(
        "wait", "How the process ends: by its stop event, at once, or by an error."
    )


async def run(settings: SampleSettings, stop: asyncio.Event) -> None:
    busy = OperatorError("port 1 is taken", remedy="free it", code=ExitCode.ADDRESS_IN_USE)
    match settings.end:
        case "wait":
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await stop.wait()
        case "operator":
            raise busy
        case "group":
            raise ExceptionGroup("tasks", [ExceptionGroup("inner", [busy])])
        case "defect":
            raise ZeroDivisionError("a defect")


if __name__ == "__main__":
    sys.exit(launching.main("sample", [Role(SampleSettings, run, "a sample")]))
