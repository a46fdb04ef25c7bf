import base64
import json
from dataclasses import replace

from nemutator_controller.profiles.push_bodies import (
    LONGEST_VALUE,
    labels_of,
    parca_body,
    pyroscope_body,
)

from tests.fakes.profiles import POD, profile


def test_a_pod_is_found_by_its_names_and_its_workload() -> None:
    labels = labels_of(replace(profile(), pod=POD, owner="shop/cart"))
    assert labels == {
        "__name__": "process_cpu",
        "namespace": "shop",
        "node": "n1",
        "pod": "cart-1",
        "service_name": "shop/cart",
        "workload": "shop/cart",
    }
    assert list(labels) == sorted(labels)


def test_a_process_is_found_by_its_program_and_a_heap_is_memory() -> None:
    labels = labels_of(replace(profile(), program="till", measure="heap"))
    assert (labels["__name__"], labels["service_name"], labels["program"]) == (
        "memory", "till", "till",
    )  # fmt: skip
    assert "pod" not in labels


def test_what_has_no_workload_is_called_by_its_title_and_no_value_is_long() -> None:
    assert labels_of(profile())["service_name"] == "pid 123 on n1"
    assert len(labels_of(replace(profile(), program="x" * 4000))["program"]) == LONGEST_VALUE


def test_the_profile_itself_goes_as_it_is_stored() -> None:
    pushed = json.loads(pyroscope_body(profile(), b"\x1f\x8bpprof"))
    [sample] = pushed["series"][0]["samples"]
    assert (base64.b64decode(sample["rawProfile"]), sample["ID"]) == (b"\x1f\x8bpprof", f"{1:016x}")
    written = json.loads(parca_body(profile(), b"\x1f\x8bpprof"))
    [sample] = written["series"][0]["samples"]
    assert base64.b64decode(sample["rawProfile"]) == b"\x1f\x8bpprof"
    assert written["normalized"] is True
