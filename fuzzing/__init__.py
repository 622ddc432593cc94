"""Random inputs: damaged files for every parser, and generated requests for the service."""
