"""Segments that python-fints does not have: balances, dated transfers, standing orders, B2B direct debits, statements.

Its parser finds them by name.
"""

from fints.fields import DataElementField, DataElementGroupField
from fints.formals import KTI1, Account3, Amount1, DataElementGroup, ReportPeriod2, SupportedMessageTypes
from fints.segments.base import FinTS3Segment, ParameterSegment
from fints.segments.debit import (
    HIDBS1,
    HIDBSS1,
    HIDMES1,
    HIDMES2,
    HIDSES1,
    HIDSES2,
    HKDBS1,
    HKDME1,
    HKDME2,
    HKDSE1,
    HKDSE2,
)
from fints.segments.saldo import HISAL7, HKSAL7


class HKSAL8(HKSAL7):  # type: ignore[misc]  # python-fints has no types
    """Saldenabfrage. Public clients send the elements of version 7; no recorded answer of a bank was found."""


class HISAL8(HISAL7):  # type: ignore[misc]
    """Saldenrückmeldung."""


class LeadTimes1(DataElementGroup):  # type: ignore[misc]  # python-fints has no types
    """How many days before its execution a single dated transfer must, and may, be ordered."""

    min_days = DataElementField(type="num", max_length=4, _d="Minimale Vorlaufzeit")
    max_days = DataElementField(type="num", max_length=4, _d="Maximale Vorlaufzeit")


class BatchLeadTimes1(DataElementGroup):  # type: ignore[misc]
    min_days = DataElementField(type="num", max_length=4, _d="Minimale Vorlaufzeit")
    max_days = DataElementField(type="num", max_length=4, _d="Maximale Vorlaufzeit")
    max_transfer_count = DataElementField(type="num", max_length=7, _d="Maximale Anzahl Überweisungen")
    sum_amount_required = DataElementField(type="jn", _d="Summenfeld benötigt")
    single_booking_allowed = DataElementField(type="jn", _d="Einzelbuchung erlaubt")


class HKCSE1(FinTS3Segment):  # type: ignore[misc]
    """Terminierte SEPA-Überweisung einreichen."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")


class HICSES1(ParameterSegment):  # type: ignore[misc]
    parameter = DataElementGroupField(type=LeadTimes1, _d="Parameter terminierte SEPA-Überweisung")


class HKCME1(FinTS3Segment):  # type: ignore[misc]
    """Terminierte SEPA-Sammelüberweisung einreichen."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sum_amount = DataElementGroupField(type=Amount1, _d="Summenfeld")
    request_single_booking = DataElementField(type="jn", _d="Einzelbuchung gewünscht")
    sepa_descriptor = DataElementField(type="an", max_length=256, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")


class HICMES1(ParameterSegment):  # type: ignore[misc]
    parameter = DataElementGroupField(type=BatchLeadTimes1, _d="Parameter terminierte SEPA-Sammelüberweisung")


class HKCSB1(FinTS3Segment):  # type: ignore[misc]
    """Bestand terminierter SEPA-Überweisungen abrufen."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_formats = DataElementGroupField(type=SupportedMessageTypes, _d="Unterstützte SEPA pain messages")
    date_start = DataElementField(type="dat", required=False, _d="Von Datum")
    date_end = DataElementField(type="dat", required=False, _d="Bis Datum")
    max_number_responses = DataElementField(type="num", max_length=4, required=False, _d="Maximale Anzahl Einträge")
    touchdown_point = DataElementField(type="an", max_length=35, required=False, _d="Aufsetzpunkt")


class HICSB1(FinTS3Segment):  # type: ignore[misc]
    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, required=False, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    is_deletable = DataElementField(type="jn", required=False, _d="Auftrag löschbar")
    is_changeable = DataElementField(type="jn", required=False, _d="Auftrag änderbar")


# Standing orders


class StandingDetails1(DataElementGroup):  # type: ignore[misc]
    first_date = DataElementField(type="dat", _d="Erste Ausführung am")
    time_unit = DataElementField(type="code", length=1, _d="Zeiteinheit: M (Monat) oder W (Woche)")
    interval = DataElementField(type="num", max_length=2, _d="Turnus")
    execution_day = DataElementField(type="num", max_length=2, _d="Ausführungstag")
    last_date = DataElementField(type="dat", required=False, _d="Letzte Ausführung am")


class StandingOrderParameter1(DataElementGroup):  # type: ignore[misc]
    max_purpose_lines = DataElementField(type="num", max_length=2, _d="Maximale Anzahl Verwendungszweckzeilen")
    min_days = DataElementField(type="num", max_length=4, _d="Minimale Vorlaufzeit")
    max_days = DataElementField(type="num", max_length=4, _d="Maximale Vorlaufzeit")
    month_intervals = DataElementField(type="dig", max_length=24, _d="Turnus in Monaten")
    days_of_month = DataElementField(type="dig", max_length=64, _d="Ausführungstage pro Monat")
    week_intervals = DataElementField(type="dig", max_length=104, required=False, _d="Turnus in Wochen")
    days_of_week = DataElementField(type="dig", max_length=7, required=False, _d="Ausführungstage pro Woche")


class HKCDE1(FinTS3Segment):  # type: ignore[misc]
    """SEPA-Dauerauftrag einrichten."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")
    details = DataElementGroupField(type=StandingDetails1, _d="Dauerauftragsdetails")


class HICDE1(FinTS3Segment):  # type: ignore[misc]
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")


class HICDES1(ParameterSegment):  # type: ignore[misc]
    parameter = DataElementGroupField(type=StandingOrderParameter1, _d="Parameter SEPA-Dauerauftrag einrichten")


class HKCDN1(FinTS3Segment):  # type: ignore[misc]
    """SEPA-Dauerauftrag ändern."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")
    change_date = DataElementField(type="dat", required=False, _d="Änderung am")
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    details = DataElementGroupField(type=StandingDetails1, _d="Dauerauftragsdetails")


class HICDN1(FinTS3Segment):  # type: ignore[misc]
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    old_order_id = DataElementField(type="an", max_length=99, required=False, _d="Alte Auftragsidentifikation")


class HKCDL1(FinTS3Segment):  # type: ignore[misc]
    """SEPA-Dauerauftrag löschen."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")
    change_date = DataElementField(type="dat", required=False, _d="Löschung am")
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    details = DataElementGroupField(type=StandingDetails1, _d="Dauerauftragsdetails")


class HKCDB1(FinTS3Segment):  # type: ignore[misc]
    """Bestand an SEPA-Daueraufträgen abrufen."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_formats = DataElementGroupField(type=SupportedMessageTypes, _d="Unterstützte SEPA pain messages")
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    max_number_responses = DataElementField(type="num", max_length=4, required=False, _d="Maximale Anzahl Einträge")
    touchdown_point = DataElementField(type="an", max_length=35, required=False, _d="Aufsetzpunkt")


class HICDB1(FinTS3Segment):  # type: ignore[misc]
    """What follows the details (suspension, what may be done with the order) is not read."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    sepa_descriptor = DataElementField(type="an", max_length=256, required=False, _d="SEPA Descriptor")
    sepa_pain_message = DataElementField(type="bin", _d="SEPA pain message")
    order_id = DataElementField(type="an", max_length=99, required=False, _d="Auftragsidentifikation")
    details = DataElementGroupField(type=StandingDetails1, _d="Dauerauftragsdetails")


# B2B direct debits: the segments of CORE direct debits under other names


class HKBSE1(HKDSE1):  # type: ignore[misc]
    """Terminierte SEPA-Firmeneinzellastschrift einreichen."""


class HIBSES1(HIDSES1):  # type: ignore[misc]
    pass


class HKBSE2(HKDSE2):  # type: ignore[misc]
    """Terminierte SEPA-Firmeneinzellastschrift einreichen."""


class HIBSES2(HIDSES2):  # type: ignore[misc]
    pass


class HKBME1(HKDME1):  # type: ignore[misc]
    """Terminierte SEPA-Firmensammellastschrift einreichen."""


class HIBMES1(HIDMES1):  # type: ignore[misc]
    pass


class HKBME2(HKDME2):  # type: ignore[misc]
    """Terminierte SEPA-Firmensammellastschrift einreichen."""


class HIBMES2(HIDMES2):  # type: ignore[misc]
    pass


class HKBBS1(HKDBS1):  # type: ignore[misc]
    """Bestand terminierter SEPA-Firmeneinzellastschriften abrufen."""


class HIBBS1(HIDBS1):  # type: ignore[misc]
    pass


class HIBBSS1(HIDBSS1):  # type: ignore[misc]
    pass


# Account statements


class HKEKA3(FinTS3Segment):  # type: ignore[misc]
    """Kontoauszug anfordern. The library's segments cannot leave the number out."""

    account = DataElementGroupField(type=Account3, _d="Kontoverbindung Auftraggeber")
    statement_format = DataElementField(type="code", length=1, required=False, _d="Kontoauszugsformat")
    statement_number = DataElementField(type="num", max_length=5, required=False, _d="Kontoauszugsnummer")
    statement_year = DataElementField(type="num", length=4, required=False, _d="Kontoauszugsjahr")
    max_number_responses = DataElementField(type="num", max_length=4, required=False, _d="Maximale Anzahl Einträge")
    touchdown_point = DataElementField(type="an", max_length=35, required=False, _d="Aufsetzpunkt")


class HKEKA4(HKEKA3):
    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")


class HKEKA5(HKEKA4):
    pass


class HKEKP1(FinTS3Segment):  # type: ignore[misc]
    """Kontoauszug PDF anfordern."""

    account = DataElementGroupField(type=KTI1, _d="Kontoverbindung international")
    statement_number = DataElementField(type="num", max_length=5, required=False, _d="Kontoauszugsnummer")
    statement_year = DataElementField(type="num", length=4, required=False, _d="Kontoauszugsjahr")
    max_number_responses = DataElementField(type="num", max_length=4, required=False, _d="Maximale Anzahl Einträge")
    touchdown_point = DataElementField(type="an", max_length=35, required=False, _d="Aufsetzpunkt")


class HKEKP2(HKEKP1):
    pass


class HIEKP1(FinTS3Segment):  # type: ignore[misc]
    data = DataElementField(type="bin", _d="Kontoauszug")
    confirmation_code = DataElementField(type="bin", required=False, _d="Quittungscode")


class HIEKP2(FinTS3Segment):  # type: ignore[misc]
    """What follows the number (account, names, file name, receipt) is not read."""

    data = DataElementField(type="bin", _d="Kontoauszug")
    statement_period = DataElementGroupField(type=ReportPeriod2, required=False, _d="Berichtszeitraum")
    date_created = DataElementField(type="dat", required=False, _d="Erstellungsdatum Kontoauszug")
    statement_year = DataElementField(type="num", length=4, required=False, _d="Kontoauszugsjahr")
    statement_number = DataElementField(type="num", max_length=5, required=False, _d="Kontoauszugsnummer")
