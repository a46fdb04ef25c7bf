import dataclasses

import pytest

from tests.testbed.building import made, recipes
from tests.testbed.building.recipes import KEY_LENGTH, Machine, Recipe

MACHINE = Machine(architecture="amd64", distribution="debian", codename="bookworm")
FILES = {
    "go.mod": b"module m\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/kubernetes v1.36.3\n)\n",
    "go.sum": b"sums\n",
    "main.go": b"package main\n",
}
HELM_MOD = "module m\n\nrequire (\n\thelm.sh/helm/v3 v3.22.0\n\tk8s.io/client-go v0.36.2\n)\n"
HELM_FILES = {"go.mod": HELM_MOD.encode(), "go.sum": b"sums\n"}


def recipe(inputs: dict[str, bytes]) -> Recipe:
    return Recipe("part", inputs, estimate_s=1, room_gb=1)


@pytest.mark.parametrize("name", FILES)
def test_another_byte_in_an_input_is_another_folder(name: str) -> None:
    changed = FILES | {name: FILES[name] + b"\n"}
    assert recipes.kube(changed, MACHINE).folder != recipes.kube(FILES, MACHINE).folder


def test_another_architecture_is_another_folder() -> None:
    other = dataclasses.replace(MACHINE, architecture="arm64")
    assert recipes.helm(HELM_FILES, other).folder != recipes.helm(HELM_FILES, MACHINE).folder
    for make in (
        recipes.kube,
        recipes.vault,
        recipes.vault_client,
        recipes.bao_client,
        recipes.go_kinds,
        recipes.versitygw,
        recipes.victoria_metrics,
    ):
        assert make(FILES, other).folder != make(FILES, MACHINE).folder
    ours, theirs = (recipes.wheels("bao", b"lock", each) for each in (MACHINE, other))
    assert theirs.folder != ours.folder
    assert recipes.debian("node", other).folder != recipes.debian("node", MACHINE).folder
    assert recipes.base_image(other).folder != recipes.base_image(MACHINE).folder


def test_other_flags_are_another_folder() -> None:
    same = recipes.kube(FILES, MACHINE)
    flags = {"flags": same.inputs["flags"] + b" -race"}
    assert dataclasses.replace(same, inputs={**same.inputs, **flags}).folder != same.folder


def test_another_release_of_the_distribution_is_another_folder() -> None:
    other = dataclasses.replace(MACHINE, codename="trixie")
    assert recipes.debian("redis", other).folder != recipes.debian("redis", MACHINE).folder
    assert recipes.base_image(other).folder != recipes.base_image(MACHINE).folder


def test_the_same_inputs_in_another_order_are_the_same_folder() -> None:
    turned = dict(reversed(FILES.items()))
    assert recipes.vault(turned, MACHINE).folder == recipes.vault(FILES, MACHINE).folder


def test_bytes_that_move_from_one_input_to_the_next_are_another_folder() -> None:
    assert recipe({"a": b"12", "b": b"3"}).folder != recipe({"a": b"1", "b": b"23"}).folder
    assert recipe({"a": b"1", "ab": b""}).folder != recipe({"a": b"", "ab": b"1"}).folder


def test_a_folder_is_named_by_its_part_and_key() -> None:
    part, _, key = recipe({}).folder.rpartition("-")
    assert part == "part"
    assert len(key) == KEY_LENGTH
    assert set(key) <= set("0123456789abcdef")


def test_kubernetes_is_stamped_with_the_version_that_go_mod_requires() -> None:
    (stamps,) = [f for f in recipes.go_flags("kube", FILES["go.mod"].decode()) if "-X" in f]
    place = "k8s.io/component-base/version"
    assert f"-X {place}.gitVersion=v1.36.3" in stamps
    assert f"-X {place}.gitMajor=1 " in stamps
    assert f"-X {place}.gitMinor=36" in stamps


def test_helm_is_stamped_as_its_own_makefile_does() -> None:
    (stamps,) = [f for f in recipes.go_flags("helm", HELM_MOD) if "-X" in f]
    assert "-X helm.sh/helm/v3/internal/version.version=v3.22.0" in stamps
    assert "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36" in stamps


def test_helm_without_its_client_has_nothing_to_stamp() -> None:
    with pytest.raises(ValueError, match="no client of Kubernetes"):
        recipes.go_flags("helm", HELM_MOD.replace("client-go", "client-no"))


@pytest.mark.parametrize(
    "go_mod",
    ["module m\n", "require k8s.io/kubernetes-sigs v1.2.3\n", "// k8s.io/kubernetes v1.2.3\n"],
)
def test_a_module_without_kubernetes_has_no_version_to_stamp(go_mod: str) -> None:
    with pytest.raises(ValueError, match="requires no"):
        recipes.go_flags("kube", go_mod)


def test_every_part_of_this_checkout_has_a_recipe_of_its_own() -> None:
    if not made.this_machine().codename:
        pytest.skip("not a Debian: its packages have no recipe here")
    folders = {made.recipe(name).folder for name in made.PARTS}
    many = len(recipes.DEBIAN_GROUPS) + len(recipes.GUEST_KERNELS)
    assert len(folders) == len(made.PARTS) == many + 17


def test_what_only_drills_need_is_a_part_like_the_others() -> None:
    assert set(made.PARTS) > made.FOR_DRILLS


def test_a_kernel_of_another_release_is_another_folder() -> None:
    kernel = recipes.GUEST_KERNELS[0]
    other = dataclasses.replace(kernel, suite="trixie")
    assert recipes.guest_kernel(other, MACHINE).folder != (
        recipes.guest_kernel(kernel, MACHINE).folder
    )


def test_a_kernel_with_its_headers_is_another_part() -> None:
    kernel = recipes.GUEST_KERNELS[0]
    other = dataclasses.replace(kernel, headers=True)
    assert other.part != kernel.part
    (alone, together) = (recipes.guest_kernel(one, MACHINE) for one in (kernel, other))
    assert together.folder.startswith(f"{other.part}-")
    assert together.inputs != alone.inputs


def test_the_base_image_bears_the_name_that_dockerfiles_ask_for() -> None:
    assert recipes.base_image_name(MACHINE) == "docker.io/library/debian:bookworm-slim"
