"""What kubelet notes beside a target before it calls a driver: whose volume it is (pkg/volume/csi)."""

import json

VOLUME_DATA = "vol_data.json"
LARGEST = 64 << 10


def is_anothers(content: bytes, driver: str, volume_id: str) -> bool:
    """Whether kubelet's note names another driver or another volume. A note that names none decides nothing."""
    try:
        note = json.loads(content)
        named = note.get("driverName", driver), note.get("volumeHandle", volume_id)
    except (ValueError, AttributeError, RecursionError):
        return False
    return named != (driver, volume_id)
