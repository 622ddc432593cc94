"""Banks by Berlin Group XS2A 1.3 (NextGenPSD2). Whoever uses it at a real bank needs a licence and certificates."""

from kontor.connectors.xs2a.banks import Approach, Xs2aBank, Xs2aSettings, read_profile
from kontor.connectors.xs2a.connector import Xs2aConnector

__all__ = ["Approach", "Xs2aBank", "Xs2aConnector", "Xs2aSettings", "read_profile"]
