"""The configuration keeps kubelet on loopback, in its folder, and from evicting anybody."""

from pathlib import Path

import pytest

from tests.testbed.parts.node.kubelet import configuration, measures

FOLDER = Path("/run-of-ours/node")


def test_it_listens_on_loopback_and_writes_in_its_folder() -> None:
    read = configuration(
        FOLDER,
        port=1234,
        measures=True,
        ca_file=Path("/run-of-ours/ca.crt"),
        certificate=FOLDER / "kubelet.crt",
        key=FOLDER / "kubelet.key",
        containerd=FOLDER / "containerd.sock",
        dns="198.19.0.1",
        cgroup="/of-ours",
    )
    assert read["address"] == read["healthzBindAddress"] == "127.0.0.1"
    assert read["port"] == 1234
    assert read["healthzPort"] not in {1234, 10248}
    assert read["readOnlyPort"] == 0
    assert not read["authentication"]["anonymous"]["enabled"]
    assert read["authorization"] == {"mode": "Webhook"}
    assert read["cgroupRoot"] == "/of-ours"
    for name in ("podLogsDir", "volumePluginDir", "resolvConf"):
        assert Path(read[name]).parent == FOLDER
    assert read["containerRuntimeEndpoint"] == f"unix://{FOLDER}/containerd.sock"
    assert set(read["evictionHard"].values()) == {"0%"}
    assert not read["makeIPTablesUtilChains"]


MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
28 27 0:30 / /tmp rw - tmpfs tmpfs rw
29 27 0:31 / /srv rw - ext4 /dev/vdb rw
30 29 0:32 / /srv/shared rw - 9p shared rw
31 27 0:33 / /srv rw - virtiofs covered rw
"""


@pytest.mark.parametrize(
    ("folder", "known"),
    [("/", True), ("/home/me", True), ("/tmp/run", True), ("/srv/shared", False), ("/srv", False)],
)
def test_a_disk_is_measured_where_its_kind_is_known(folder: str, *, known: bool) -> None:
    assert measures(MOUNTS, Path(folder)) is known
