"""A pod of an image that holds one static program and nothing else, and what becomes of its containers."""

import shutil
from pathlib import Path
from typing import Any

from tests.e2e.first_light.team import NAMESPACE, Team, restricted
from tests.testbed.building import made, unpacked
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.running.waiting import until

IMAGE = "localhost/nemutator/scratch:e2e"
PROGRAM = "/sh"
VAULT_IMAGE = "localhost/nemutator/vault:e2e"
VAULT = "/vault"
NOBODY = 65534
ENDED_S = 900.0
"""On an emulated CPU."""

Json = dict[str, Any]


def with_scratch(image: ImageStore, folder: Path) -> None:
    # This program is what its name says.
    shutil.copy(
        unpacked.program(made.debian("node"), "busybox"), folder / PROGRAM.removeprefix("/")
    )
    image.from_folder(folder, IMAGE, entrypoint=[PROGRAM])


def with_vault(image: ImageStore, folder: Path) -> None:
    """Vault's own command as it is, in an image of its own."""
    shutil.copy(made.vault(), folder / VAULT.removeprefix("/"))
    image.from_folder(folder, VAULT_IMAGE, entrypoint=[VAULT])


def pod(name: str, annotations: dict[str, str], *containers: Json) -> Json:
    """Each container runs once, without any right and without a file that it could write."""
    context = restricted() | {"runAsUser": NOBODY, "readOnlyRootFilesystem": True}
    image = {"image": IMAGE, "imagePullPolicy": "Never", "securityContext": context}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "containers": [image | container for container in containers],
        },
    }


def ended(team: Team, name: str, *, beside: str = "") -> dict[str, Json]:
    """How each container of a pod has ended, once all have; but for the one *beside* them."""

    def states() -> dict[str, Json]:
        statuses = team.get("pod", name)["status"].get("containerStatuses", ())
        return {
            one["name"]: one["state"].get("terminated") for one in statuses if one["name"] != beside
        }

    until(
        lambda: bool(found := states()) and all(found.values()),
        f"the containers of {name} have ended",
        within_s=ENDED_S,
    )
    return states()
