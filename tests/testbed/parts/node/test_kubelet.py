"""The configuration keeps kubelet on loopback, in its folder, and from evicting anybody."""

from pathlib import Path

from tests.testbed.parts.node.kubelet import configuration

FOLDER = Path("/run-of-ours/node")


def test_it_listens_on_loopback_and_writes_in_its_folder() -> None:
    read = configuration(
        FOLDER,
        ca_file=Path("/run-of-ours/ca.crt"),
        certificate=FOLDER / "kubelet.crt",
        key=FOLDER / "kubelet.key",
        containerd=FOLDER / "containerd.sock",
        dns="198.19.0.1",
        cgroup="/of-ours",
    )
    assert read["address"] == read["healthzBindAddress"] == "127.0.0.1"
    assert len({read["port"], read["healthzPort"], 10250, 10248}) == 4
    assert read["readOnlyPort"] == 0
    assert not read["authentication"]["anonymous"]["enabled"]
    assert read["authorization"] == {"mode": "Webhook"}
    assert read["cgroupRoot"] == "/of-ours"
    for name in ("podLogsDir", "volumePluginDir", "resolvConf"):
        assert Path(read[name]).parent == FOLDER
    assert read["containerRuntimeEndpoint"] == f"unix://{FOLDER}/containerd.sock"
    assert set(read["evictionHard"].values()) == {"0%"}
    assert not read["makeIPTablesUtilChains"]
