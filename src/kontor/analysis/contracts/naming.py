"""The ids of contracts: a contract that was found before keeps its id (ADR 0052)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kontor.analysis.contracts.descriptions import make_id
from kontor.analysis.contracts.findings import Contract
from kontor.domain.contracts import NOTHING_SET, Booking, KnownContract


def name_contracts(
    found: Sequence[Contract], known: Sequence[KnownContract], repeated: Mapping[str, str]
) -> list[Contract]:
    """The contracts with their ids.

    A contract keeps its id while at least half of its bookings stay. Where two claim the same, the one with more
    bookings in common gets it. `known` are in the order in which they were first found. `repeated` names rows that
    repeat another one, with the row that counts.
    """
    rows = group_rows(repeated)
    contract_of = {
        row: number
        for number, contract in enumerate(found)
        for booking in list_bookings(contract, rows)
        for row in booking
    }
    claims = []
    for place, earlier in enumerate(known):
        shared: Counter[int] = Counter()
        for booking in earlier.bookings:
            shared.update({contract_of[row] for row in booking if row in contract_of})
        size = len(earlier.bookings)
        claims += [(-count, size, place, number) for number, count in shared.items() if 2 * count >= size]
    places: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, place, number in sorted(claims):
        if number not in places and place not in taken:
            places[number] = place
            taken.add(place)
    used = {earlier.id for earlier in known}
    return [
        replace(contract, id=known[places[number]].id if number in places else _make_new_id(contract, used))
        for number, contract in enumerate(found)
    ]


def group_rows(repeated: Mapping[str, str]) -> dict[str, Booking]:
    """All rows of the bookings that several accesses report, by the row that counts."""
    rows: dict[str, list[str]] = {}
    for row, kept in repeated.items():
        rows.setdefault(kept, [kept]).append(row)
    return {kept: tuple(sorted(booking)) for kept, booking in rows.items()}


def list_bookings(contract: Contract, rows: Mapping[str, Booking]) -> tuple[Booking, ...]:
    """The contract's bookings. `rows` is from `group_rows`."""
    return tuple(rows.get(row, (row,)) for row in contract.transaction_ids)


def list_known(
    found: Sequence[Contract],
    known: Sequence[KnownContract],
    repeated: Mapping[str, str],
    existing: Collection[str],
) -> list[KnownContract]:
    """What is known after these were found.

    A contract that was found before and is not any more stays known while one of its rows is among the `existing`.
    """
    rows = group_rows(repeated)
    settings = {contract.id: contract.settings for contract in known}
    now = {
        contract.id: KnownContract(
            contract.id, list_bookings(contract, rows), settings=settings.get(contract.id, NOTHING_SET)
        )
        for contract in found
    }
    earlier = [
        replace(contract, is_found=False)
        for contract in known
        if contract.id not in now and any(row in existing for booking in contract.bookings for row in booking)
    ]
    return [*now.values(), *earlier]


def _make_new_id(contract: Contract, used: set[str]) -> str:
    number, new_id = 0, contract.id
    while new_id in used:
        number += 1
        new_id = make_id(contract.transaction_ids_regular[0], number)
    used.add(new_id)
    return new_id
