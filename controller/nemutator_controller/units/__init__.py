"""Units of systemd, which are given what is recommended as drop-ins, where there is no cluster."""
