"""How a bank is reached: one folder per protocol, one contract (`base`) that all of them keep."""
