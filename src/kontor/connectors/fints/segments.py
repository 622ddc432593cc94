"""Segments that python-fints does not have: dated transfers. Its parser finds them here by their names."""

from fints.fields import DataElementField, DataElementGroupField
from fints.formals import KTI1, Amount1, DataElementGroup, SupportedMessageTypes
from fints.segments.base import FinTS3Segment, ParameterSegment


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
