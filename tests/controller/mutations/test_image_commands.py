"""Where no image is read, nothing is known of any."""

from nemutator_controller.mutations.image_commands import NO_IMAGE_COMMANDS, NoImageCommand


def test_nothing_is_known_and_nothing_will_be() -> None:
    assert NO_IMAGE_COMMANDS.of("nginx") == NoImageCommand(reason="", soon=False)
