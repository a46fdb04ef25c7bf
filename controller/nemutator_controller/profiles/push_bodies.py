"""What other stores of profiles want to be sent: pprof with labels, as JSON of their protobuf messages.

Both take pprof as it is stored here, and both describe their service by protobuf whose JSON form is
fixed: bytes are base64, and names of fields are in camel case.
"""

import base64
import json

from nemutator_controller.profiles.records import ProfileRecord

PYROSCOPE_PATH = "/push.v1.PusherService/Push"
PARCA_PATH = "/api/profiles/writeraw"

LONGEST_VALUE = 1_000
"""Pyroscope refuses a profile with a value of more than 2 048 bytes; people read less."""

_NAMES = {"cpu": "process_cpu", "heap": "memory", "off-cpu": "off_cpu"}
"""As the agents of Pyroscope and Parca call such profiles: what shows them knows these words."""


def labels_of(profile: ProfileRecord) -> dict[str, str]:
    """What *profile* is found by, in the order of names that Pyroscope asks for."""
    pod = profile.pod if profile.pod is not None and profile.pod.name else None
    found = {
        "__name__": _NAMES[profile.measure],
        "namespace": pod.namespace if pod else "",
        "node": profile.node,
        "pod": pod.name if pod else "",
        "program": profile.program,
        "service_name": profile.workload or profile.title,
        "workload": profile.workload,
    }
    return {name: value[:LONGEST_VALUE] for name, value in sorted(found.items()) if value}


def pyroscope_body(profile: ProfileRecord, pprof: bytes) -> bytes:
    """A `PushRequest` of push.v1."""
    sample = {"rawProfile": _base64(pprof), "ID": profile.id}
    return _json({"series": [{"labels": _pairs(profile), "samples": [sample]}]})


def parca_body(profile: ProfileRecord, pprof: bytes) -> bytes:
    """A `WriteRawRequest` of parca.profilestore.v1alpha1."""
    series = {"labels": {"labels": _pairs(profile)}, "samples": [{"rawProfile": _base64(pprof)}]}
    # Addresses are those of the file, not those at which it was mapped.
    return _json({"series": [series], "normalized": True})


def _pairs(profile: ProfileRecord) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in labels_of(profile).items()]


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
