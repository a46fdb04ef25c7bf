"""Profiles, the windows that are kept of them, and engines that get copies."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import header, some_of, web_address
from nemutator_controller.settings.lists import separated

EXPORTS = frozenset({"usage", "advice", "workloads", "nodes", "mutations"})
"""What can be written into a bucket for other programs."""


@dataclass(frozen=True, kw_only=True)
class ProfileSettings:
    profiles: int = setting(
        500,
        "Finished profiles that are kept; the oldest are dropped for new ones.",
        check=between(1, 100_000),
    )
    profile_bytes: int = setting(
        64 << 20,
        "Bytes of all finished profiles in the database; the oldest are dropped for new ones.",
        check=between(1 << 20, 1 << 40),
    )
    windows_s: float = setting(
        14 * 86_400.0,
        "Seconds for which readings of quiet windows are kept, of which verdicts on ageing are made.",
        check=between(3_600, 366 * 86_400),
    )
    window_bytes: int = setting(
        256 << 20,
        "Bytes of all readings of quiet windows in the database; the oldest are dropped for new ones.",
        check=between(1 << 20, 1 << 40),
    )
    window_namespaces: str = setting(
        "",
        "Namespaces whose pods quiet windows may look at, with commas between; empty: all.",
    )
    window_selector: str = setting(
        "",
        "Label selector of the pods that quiet windows may look at, like `tier in (a,b)`; empty: all.",
    )
    ageing_after_s: float = setting(
        150.0,
        "Seconds for which a process must have been read before a provisional verdict on its ageing.",
        check=between(1, 86_400),
    )
    objects: str = setting(
        "",
        "Bucket that speaks S3 (AWS, MinIO, Ceph, Garage), for contents of profiles and exports, as"
        " `https://HOST/BUCKET` or `https://HOST/BUCKET/PREFIX`; empty: the database has them.",
        check=web_address,
    )
    objects_region: str = setting("us-east-1", "Region that it is in.", check=header)
    objects_access_key: str = setting("", "Name of the key by which we use it.", check=header)
    objects_secret_key_file: str = setting(
        "", "File with the secret of that key; read each minute."
    )
    objects_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    exports: str = setting(
        "",
        "What is written into that bucket for other programs, a file of each for each hour: some of `usage` (five"
        " minutes of each container, CSV), `advice`, `workloads`, `nodes` and `mutations` (lines of JSON), with"
        " commas between; empty: nothing.",
        check=some_of(EXPORTS),
    )
    exports_days: int = setting(
        90,
        "Days after which such a file is removed again; 0: never.",
        check=between(0, 3_650),
    )
    pyroscope: str = setting(
        "",
        "Pyroscope to which each finished profile is sent, like `https://pyroscope:4040`; empty: none.",
        check=web_address,
    )
    pyroscope_token_file: str = setting(
        "", "File with the token that Pyroscope, or a proxy before it, asks for; read each minute."
    )
    pyroscope_tenant: str = setting(
        "", "Tenant in Pyroscope (`X-Scope-OrgID`), where it has several.", check=header
    )
    parca: str = setting(
        "",
        "Parca to which each finished profile is sent, like `https://parca:7070`; empty: none.",
        check=web_address,
    )
    parca_token_file: str = setting(
        "", "File with the token that Parca, or a proxy before it, asks for; read each minute."
    )
    push_ca_file: str = setting(
        "",
        "PEM file with who signs the certificates of those two; empty: the authorities of the system.",
    )

    @property
    def chosen_namespaces(self) -> tuple[str, ...]:
        """The names in `window_namespaces`."""
        return separated(self.window_namespaces)
