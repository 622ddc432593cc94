"""The people of the demo bank: made-up customers who live believable German financial lives.

`person_for(login, today)` is all a bank needs. What is true about the bookings (`Truth`, `ContractTruth`, `LifeEvent`)
comes along in types of its own, for tests and evaluations only.
"""

from kontor.connectors.demo.people.person import PERSONAS, TEST_LOGINS, large_person, person_for
from kontor.connectors.demo.people.truth import Account, Address, ContractTruth, Entry, LifeEvent, Person, Truth

__all__ = [
    "PERSONAS",
    "TEST_LOGINS",
    "Account",
    "Address",
    "ContractTruth",
    "Entry",
    "LifeEvent",
    "Person",
    "Truth",
    "large_person",
    "person_for",
]
