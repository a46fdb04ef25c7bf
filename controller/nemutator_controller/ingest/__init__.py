"""The other end of the agents' uplink: who speaks, is it sane, is it new, is it stored."""
