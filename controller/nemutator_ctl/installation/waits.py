"""How long somebody is ready to wait, as kubectl has it: `90s`, `5m`, `1h30m`."""

import argparse
import re

PARTS = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$")


def seconds(text: str) -> float:
    found = PARTS.match(text)
    if not text or found is None or not any(found.groups()):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no duration like 90s, 5m or 1h30m")
    hours, minutes, rest = found.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(rest or 0)
