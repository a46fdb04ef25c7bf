"""From addresses to names: strangers' executables are read in a worker without privileges."""
