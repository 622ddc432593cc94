"""The edge of the demo bank: what its own customers see."""
