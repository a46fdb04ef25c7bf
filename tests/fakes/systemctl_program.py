"""A `systemctl` as a program, which knows one running unit and reads the drop-ins of a folder as systemd does."""

import sys
from pathlib import Path

_PROGRAM = """#!{python} -IS
import pathlib, sys
folder, state, words = pathlib.Path({folder!r}), pathlib.Path({state!r}), sys.argv[1:]
words.remove("--no-ask-password")
if (state / "away").exists():
    sys.exit("System has not been booted with systemd as init system (PID 1). Can't operate.")
if words == ["daemon-reload"]:
    said = {{}}
    for file in sorted(folder.glob("shop.service.d/*.conf")):
        said.update(line.split("=") for line in file.read_text().splitlines() if line[:1].isupper())
    (state / "read").write_text("\\n".join("=".join(one) for one in said.items()))
    sys.exit()
verb, properties, dashes, unit = words
assert (verb, dashes) == ("show", "--") and properties.startswith("--property=Id,"), words
there = unit in ("shop.service", "alias.service")
shown = {{"Id": "shop.service" if there else unit, "LoadState": "loaded" if there else "not-found"}}
shown |= {{"Transient": "no", "Slice": "system.slice", "ControlGroup": "/system.slice/shop.service"}}
shown |= {{"CPUWeight": "[not set]", "MemoryHigh": "infinity", "MemoryMax": "infinity"}}
if there and (state / "read").exists():
    shown.update(line.split("=") for line in (state / "read").read_text().splitlines())
shown["DropInPaths"] = " ".join(map(str, sorted(folder.glob("shop.service.d/*.conf"))))
print("\\n".join("=".join(one) for one in shown.items()))
"""


def systemctl_program(place: Path, *, folder: Path) -> Path:
    """The program, in a folder of its own within *place*; a file `away` beside it ends systemd."""
    own = place / "systemctl-program"
    own.mkdir()
    program = own / "systemctl"
    text = _PROGRAM.format(python=sys.executable, folder=str(folder), state=str(own))
    program.write_text(text)
    program.chmod(0o755)
    return program
