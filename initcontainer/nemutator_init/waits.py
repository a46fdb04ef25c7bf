"""How long to wait, as it is written on a command line."""

import argparse
import re


def wait(text: str) -> float:
    """Seconds, like `120` or `120s`."""
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)s?", text)
    if match is None:
        raise argparse.ArgumentTypeError("expected seconds, like 120s")
    return float(match[1])
