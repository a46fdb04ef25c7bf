import configparser
import tomllib
from ipaddress import IPv4Interface
from pathlib import Path

from tests.testbed.parts.machine import guest_units
from tests.testbed.parts.machine.guest_units import Engine

ENGINE = Engine(containerd=Path("/engine"), runc=Path("/runtime"), plugins=Path("/cni"))


def unit(text: str) -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None)
    read.read_string(text)
    return read


def test_containerd_leaves_all_control_groups_to_systemd() -> None:
    settings = tomllib.loads(guest_units.containerd_settings(ENGINE))
    plugin = settings["plugins"]["io.containerd.grpc.v1.cri"]
    options = plugin["containerd"]["runtimes"]["runc"]["options"]
    assert options == {"BinaryName": "/runtime/runc", "SystemdCgroup": True}
    assert plugin["cni"]["bin_dir"] == "/cni"


def test_containerd_waits_for_shims_that_lack_cpu() -> None:
    timeouts = tomllib.loads(guest_units.containerd_settings(ENGINE))["timeouts"]
    waits = {name.removeprefix("io.containerd.timeout."): wait for name, wait in timeouts.items()}
    kinds = ("shim.cleanup", "shim.load", "shim.shutdown", "task.state")
    assert waits == dict.fromkeys(kinds, "120s")


def test_a_shim_is_known_by_what_it_was_started_for() -> None:
    shim = "/engine/containerd-shim-runc-v2 -namespace k8s.io -id {} -address /run/it.sock"
    lines = [shim.format("pod"), shim.format("container"), shim.format("new") + " start", ""]
    assert guest_units.served_by("\n".join(lines)) == {"pod", "container"}


def test_the_end_of_a_daemon_is_not_the_end_of_its_pods() -> None:
    for text in (guest_units.containerd_unit(ENGINE), guest_units.kubelet_unit("/kube", "kubelet")):
        assert unit(text)["Service"]["KillMode"] == "process"
        assert unit(text)["Service"]["Restart"] == "always"
        assert unit(text)["Install"]["WantedBy"] == "multi-user.target"


def test_a_port_leads_to_the_same_port_outside() -> None:
    units = {name: unit(text) for name, text in guest_units.proxy(6443).items()}
    assert units["host-6443.socket"]["Socket"]["ListenStream"] == "127.0.0.1:6443"
    assert units["host-6443.service"]["Service"]["ExecStart"].endswith(" 10.0.2.2:6443")


def test_the_bridge_has_the_nodes_address_before_it_has_a_pod() -> None:
    files = guest_units.bridge("pods", IPv4Interface("198.19.1.1/24"))
    network = unit(files["pods.network"])["Network"]
    assert network["Address"] == "198.19.1.1/24"
    assert network["ConfigureWithoutCarrier"] == "yes"
