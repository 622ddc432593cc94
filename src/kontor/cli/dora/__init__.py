"""`kontor dora`: what Regulation (EU) 2022/2554 asks of operators, as far as it follows from the installation."""
