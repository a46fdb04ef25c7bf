"""The smallest Debian as an OCI archive, for Dockerfiles on a machine that has no registry.

It is made as Debian's published `-slim` images are: without manuals, and told to install none.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.testbed.building import apt, commands, made, unpacked
from tests.testbed.building.buildah import Buildah
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe, Release

ARCHIVES = "var/cache/apt/archives"

# The scripts that debootstrap's newest suites are links to.
NEWEST = {"debian": "sid", "ubuntu": "gutsy"}

# Mounts of its own: what debootstrap mounts is seen by nobody else and goes with its processes.
# Processes of their own: killing the first one leaves none.
CONTAINED = (
    "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--",
)  # fmt: skip

# Licences stay, as they do there.
MANUALS = ("doc", "info", "linda", "lintian/overrides", "locale", "man")
LICENCES = "copyright"
FOR_DPKG = "etc/dpkg/dpkg.cfg.d/docker"
FOR_APT = "etc/apt/apt.conf.d/docker-clean"
CLEANED = """\
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb || true"; };
"""

# The PATH that Dockerfiles expect of an image, with the place where pip puts programs.
INSIDE = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make `base-image.tar` with the programs of the group `images`. To be called while locked."""
    if os.geteuid() != 0:
        raise MissingPartError(
            "needs root, because debootstrap makes device files and enters chroots"
        )
    tools = made.debian("images")
    cache.check_disk(recipe)
    say(f"{recipe.part}: making the smallest {made.base_image_name()}; takes about 90 s")
    with cache.making(recipe) as folder, cache.scratch("image") as scratch:
        (scratch / "apt").mkdir()
        with apt.updated(scratch / "apt") as lists:
            mirror = lists.mirror(made.this_machine().codename)
        try:
            root = bootstrap(tools, mirror, scratch)
            without_manuals(root)
            commit(tools, root, scratch, folder / "base-image.tar")
        except CommandError as failed:
            raise MissingPartError(
                f"{failed}\n  remedy: see that this machine's own archive {mirror} can be reached"
            ) from failed


def bootstrap(
    tools: Path,
    mirror: str,
    scratch: Path,
    *,
    release: Release | None = None,
    keyring: Path | None = None,
    foreign: str = "",
    include: Sequence[str] = (),
) -> Path:
    """The smallest system of *release*, or else of this machine's own, with the packages *include*.

    Without a *mirror* it comes from where debootstrap says that the distribution is. One for the
    processor *foreign* is left as debootstrap leaves it where its programs do not run.
    """
    machine = made.this_machine()
    release = release or Release(machine.distribution, machine.codename)
    keyring = keyring or Path(f"/usr/share/keyrings/{release.distribution}-archive-keyring.gpg")
    root = scratch / "root"
    scripts = tools / "usr/share/debootstrap/scripts"
    commands.run(
        [
            tools / "usr/sbin/debootstrap", "--variant=minbase",
            f"--arch={foreign or machine.architecture}", *(["--foreign"] if foreign else []),
            f"--keyring={keyring}", "--force-check-gpg",
            *([f"--components={','.join(release.components)}"] if release.components else []),
            *([f"--include={','.join(include)}"] if include else []),
            # A suite that is younger than debootstrap is made as the newest one that it knows.
            release.suite, root, mirror,
            *([] if (scripts / release.suite).exists() else [scripts / NEWEST[release.distribution]]),
        ],
        log=scratch / "debootstrap.log",
        within=CONTAINED,
        environment=_inherited()
        | unpacked.environment(tools)
        | {"DEBOOTSTRAP_DIR": str(scripts.parent), "LC_ALL": "C"},
    )  # fmt: skip
    # What only costs room in every image that is built upon it.
    for archive in [] if foreign else (root / ARCHIVES).glob("*.deb"):
        archive.unlink()
    for listing in (root / "var/lib/apt/lists").glob("*_*"):
        listing.unlink()
    return root


def without_manuals(root: Path) -> None:
    """Take out of *root* what a published image does not have, and have packages bring none of it."""
    share = root / "usr/share"
    for manual in MANUALS:
        for path in sorted((share / manual).rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.name != LICENCES:
                path.unlink()
    for old in (*root.glob("var/cache/apt/*.bin"), *root.glob("var/cache/debconf/*-old")):
        old.unlink()
    excluded = [f"path-exclude /usr/share/{manual}/*\n" for manual in MANUALS]
    licences = f"path-include /usr/share/doc/*/{LICENCES}\n"
    (root / FOR_DPKG).write_text("".join([*excluded, licences]))
    (root / FOR_APT).write_text(CLEANED)


def commit(tools: Path, root: Path, scratch: Path, archive: Path) -> None:
    """Pack *root* as an image of one layer, under the name that Dockerfiles know."""
    name = made.base_image_name()
    working = scratch / "buildah"
    working.mkdir()
    buildah = Buildah(tools, working)
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, root, "/")
    buildah("config", "--cmd", "bash", "--env", f"PATH={INSIDE}", container)
    image = buildah("commit", "--quiet", "--rm", container, name)
    buildah("push", "--quiet", image, f"oci-archive:{archive}:{name}")


def _inherited() -> dict[str, str]:
    """Proxies and certificates of the user, without which an archive may be out of reach."""
    wanted = ("_proxy", "_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
    return {name: value for name, value in os.environ.items() if name.endswith(wanted)}
