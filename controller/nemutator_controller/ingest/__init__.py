"""The other end of the uplink of agents and admission: is it sane, is it new, is it stored."""
