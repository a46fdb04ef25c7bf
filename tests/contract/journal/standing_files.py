"""A brain over a directory of files, and its command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.brains import StandingBrain
from tests.fakes.command_lines import CommandLine
from tests.fakes.manifests import Json


@dataclass
class Standing:
    brain: StandingBrain
    root: Path
    nemutator: CommandLine

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        async with self.brain.local.request(method, path, json=body) as answer:
            return answer.status, await answer.json()

    async def apply(self, document: Json) -> Json:
        status, answer = await self.ask("POST", "/api/v1/objects", document)
        assert status == 200, answer
        return dict(answer)

    @property
    def file(self) -> Path:
        return self.root / "objects" / "Deployment" / "default" / "web.json"


def template(document: Json) -> Json:
    found: Json = document["spec"]["template"]
    return found
