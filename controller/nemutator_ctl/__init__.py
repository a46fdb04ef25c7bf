"""The command line: `nemutator`, for people; it talks to the controller and starts it at home."""
