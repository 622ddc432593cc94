"""Statements as the demo bank sends them: MT940, MT942, MT535, camt.052 and camt.053.

Written from the published descriptions of the formats, apart from the parsers in `connectors/statements`: the tests ask
whether both read the same into them, and AqBanking has the last word.
"""

from kontor.demobank.statements.camt import write_camt052, write_camt053
from kontor.demobank.statements.mt535 import write_mt535
from kontor.demobank.statements.mt940 import write_mt940, write_mt942

__all__ = ["write_camt052", "write_camt053", "write_mt535", "write_mt940", "write_mt942"]
