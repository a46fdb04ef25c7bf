"""Names of functions as their sources write them, where a compiler has mangled them."""
