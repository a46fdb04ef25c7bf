"""A folder becomes an image that the node runs."""

import shutil
from pathlib import Path

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.testbed.building import made, unpacked
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore

NAME = "localhost/testbed/from-folder:1"


def test_what_is_in_the_folder_is_what_runs(
    cluster: Cluster, image: ImageStore, namespace: str, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(unpacked.program(made.debian("node"), "busybox"), tmp_path / "bin" / "busybox")
    (tmp_path / "words").write_text("out of a folder\n")
    script = "cat /words; echo $PLACE; exec /bin/busybox sleep 600"
    image.from_folder(
        tmp_path, NAME, entrypoint=["/bin/busybox", "sh", "-c", script], environment={"PLACE": "x"}
    )
    app = {key: value for key, value in container(image=NAME).items() if key != "command"}
    cluster.apply(sleeping("folder", namespace, containers=[app]))
    wait_ready(cluster, namespace, "pod/folder")
    said = cluster.kubectl("logs", "folder", f"--namespace={namespace}")
    assert said == "out of a folder\nx\n"
