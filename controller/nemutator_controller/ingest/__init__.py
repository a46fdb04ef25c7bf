"""The brain's end of the uplink: what agents and admission send is checked, and stored once."""
