"""A document for programs: JSON, or YAML. The only file that imports PyYAML, and only when asked.

Both escape everything beyond ASCII, so that a stranger's text cannot draw on a terminal.
"""

import argparse
import enum
import json
from typing import Literal


class Output(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def add_output(parser: argparse.ArgumentParser) -> None:
    """The option `-o`; what it was given is compared with `Output`, whose members are text."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="|".join(Output),
        choices=[output.value for output in Output],
        default=Output.TABLE.value,
        help="table for people (the default), json or yaml for programs",
    )


def rendered(document: object, output: Literal[Output.JSON, Output.YAML]) -> str:
    """*document*, made of what JSON has, as text that ends with a newline."""
    if output is Output.JSON:
        return json.dumps(document, indent=2) + "\n"
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=False)
