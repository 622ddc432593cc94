"""Life stages: how somebody lives now, one answer for work, children, home and savings each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from kontor.analysis.contracts import Contract, Status
from kontor.analysis.contracts.texts import squeeze_text
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.life_events.careers import list_jobs
from kontor.analysis.life_events.homes import list_homes
from kontor.analysis.life_events.signals import LifeSignals, SignalPeriod, read_life_signals, subtract_months
from kontor.analysis.life_events.signs import TRAINING, Sign, is_home_loan
from kontor.analysis.reasons import Reason
from kontor.analysis.records import Account, Record

_SURE_DAYS, _MIN_BOOKINGS = 60, 15
_SAVINGS_MONTHS = 6
# Without an agreement, saving in so many of the last months is regular all the same.
_REGULAR_MONTHS = 5
_CHILD_PURCHASES = ("FAMILY_CHILDNECESSITIES", "FAMILY_CHILDACTIVITIES")
_MIN_CHILD_PURCHASES = 4
_LOOKED_AT = ("FAMILY_", "INCOME_", "SAVINGS_")


@dataclass(frozen=True, slots=True)
class LifeStage:
    """`name` is the item of the tree."""

    name: str
    confidence: float
    transaction_ids: tuple[str, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class _View:
    signals: LifeSignals
    recent: Sequence[Record]
    contracts: Sequence[Contract]
    accounts: Sequence[Account]
    today: date

    def list_recent(self, months: int, choose: Callable[[Record], bool]) -> list[Record]:
        """Of the last months, twelve at most."""
        begin = subtract_months(self.today, months)
        return [record for record in self.recent if choose(record) and record.day > begin]

    def find_ongoing(self, *signs: Sign) -> SignalPeriod | None:
        """The period of these signs that goes on, the latest to begin."""
        ongoing = [period for period in self.signals.list_periods(*signs) if not period.is_over]
        return ongoing[-1] if ongoing else None


def find_life_stages(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> list[LifeStage]:
    """Exactly one stage of each group as soon as there is any booking, nothing before."""
    return find_stages(read_life_signals(records, contracts, accounts, today), records, contracts, accounts)


def find_stages(
    signals: LifeSignals, records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account]
) -> list[LifeStage]:
    """The same, where the signals are known already."""
    today = signals.today
    if not signals.data_from:
        return []
    recent = [
        record
        for record in select_days(order_records(records), subtract_months(today, 12), today)
        if record.category.startswith(_LOOKED_AT) and not record.is_pending and record.amount.is_finite()
    ]
    view = _View(signals, recent, contracts, accounts, today)
    return [_find_work(view), _find_parenthood(view), _find_home(view), _find_savings(view)]


def _tell(name: str, confidence: float, text: str, ids: Sequence[str] = ()) -> LifeStage:
    return LifeStage(name, confidence, tuple(ids), (Reason(text, tuple(ids)),))


def _find_work(view: _View) -> LifeStage:
    group = "LABOURMARKET_"
    leave = view.find_ongoing(Sign.PARENTAL_ALLOWANCE)
    if leave is not None:
        return _tell(group + "PARENTALLEAVE", 0.96, "Parental allowance is being paid", leave.ids[-3:])
    jobs = [job for job in list_jobs(view.signals) if not job.is_over]
    job = max(jobs, key=lambda job: job.usual_amount, default=None)
    pension = view.find_ongoing(Sign.PENSION)
    if pension is not None and (job is None or pension.usual_amount >= job.usual_amount):
        return _tell(group + "RETIRED", 0.95, "A pension is being paid", pension.ids[-3:])
    benefit = view.find_ongoing(Sign.UNEMPLOYMENT)
    if benefit is not None and (job is None or benefit.usual_amount > job.usual_amount):
        return _tell(group + "UNEMPLOYED", 0.95, "Unemployment benefit is being paid", benefit.ids[-3:])
    if job is not None:
        return _tell(group + "EMPLOYED", 0.96, f"{job.partner} pays a salary", job.ids[-3:])
    revenue = view.list_recent(6, lambda record: record.freelancer_category == "REVENUE" and record.amount > 0)
    if len({(record.day.year, record.day.month) for record in revenue}) >= 3:
        return _tell(
            group + "SELFEMPLOYED", 0.9, "Fees came in over several months", [record.id for record in revenue[-5:]]
        )
    return _find_rest_of_work(view, group)


def _find_rest_of_work(view: _View, group: str) -> LifeStage:
    aid = view.find_ongoing(Sign.STUDENT_AID)
    if aid is not None:
        return _tell(group + "STUDENT", 0.95, "Student aid is being paid", aid.ids[-3:])
    begin = subtract_months(view.today, 8)
    fees = [fee for fee in view.signals.list_singles(Sign.SEMESTER_FEE) if fee.day > begin]
    if fees:
        return _tell(group + "STUDENT", 0.9, "A semester fee was paid", [fee.id for fee in fees])
    side_job = view.find_ongoing(Sign.SIDE_JOB, Sign.SALARY)
    if side_job is not None:
        return _tell(group + "EMPLOYED", 0.7, f"{side_job.partner} pays a small salary", side_job.ids[-3:])
    survivor = view.find_ongoing(Sign.SURVIVOR_PENSION)
    if survivor is not None:
        return _tell(group + "RETIRED", 0.6, "A survivor's pension is the only regular income", survivor.ids[-3:])
    return _tell(group + "UNKNOWN", 0.5, "No regular income tells of a place at the labour market")


def _find_parenthood(view: _View) -> LifeStage:
    group = "PARENTHOOD_"
    sure = view.find_ongoing(Sign.PARENTAL_ALLOWANCE, Sign.CHILDCARE)
    if sure is not None:
        return _tell(group + "CHILDREN", 0.97, f"Ongoing: {sure.sign.value}", sure.ids[-3:])
    bought = view.list_recent(12, lambda record: record.category in _CHILD_PURCHASES and record.amount < 0)
    benefit = view.find_ongoing(Sign.CHILD_BENEFIT)
    if benefit is not None and (bought or not _is_in_training(view)):
        return _tell(group + "CHILDREN", 0.95, "Child benefit is being paid", benefit.ids[-3:])
    support = view.list_recent(
        3, lambda record: record.category == "FAMILY_SUPPORT" and "KINDESUNTERHALT" in squeeze_text(record.purpose)
    )
    if support:
        return _tell(group + "CHILDREN", 0.93, "Child support is being paid", [record.id for record in support])
    if len(bought) >= _MIN_CHILD_PURCHASES:
        return _tell(group + "CHILDREN", 0.8, "Purchases for children were made", [record.id for record in bought[-5:]])
    days = (view.today - view.signals.first_day).days
    if days < _SURE_DAYS or view.signals.count < _MIN_BOOKINGS:
        return _tell(group + "UNKNOWN", 0.5, "There is too little data to tell")
    return _tell(group + "NOCHILDREN", 0.85, "Nothing is paid or received for children")


def _is_in_training(view: _View) -> bool:
    """Trainees and students may get the child benefit that is paid for themselves."""
    if view.find_ongoing(Sign.STUDENT_AID) is not None:
        return True
    pay = view.find_ongoing(Sign.SALARY)
    return pay is not None and TRAINING.search(squeeze_text(pay.records[-1].purpose)) is not None


def _find_home(view: _View) -> LifeStage:
    group = "HOUSING_"
    rents = [home for home in list_homes(view.signals) if not home.is_over]
    rents += [period for period in view.signals.list_periods(Sign.ROOM) if not period.is_over]
    mortgage = view.find_ongoing(Sign.MORTGAGE)
    lets = view.list_recent(6, lambda record: record.category == "INCOME_RENTAL" and record.amount > 0)
    if mortgage is not None and not (rents and lets):
        return _tell(group + "OWNERMORTGAGE", 0.93, "A mortgage is being paid", mortgage.ids[-3:])
    if rents:
        return _tell(group + "TENANT", 0.96, "Rent is being paid", rents[-1].ids[-3:])
    for account in view.accounts:
        if is_home_loan(account):
            return _tell(group + "OWNERMORTGAGE", 0.85, f"There is the loan account {account.name}")
    return _tell(group + "UNKNOWN", 0.5, "Neither rent nor a mortgage is being paid")


def _find_savings(view: _View) -> LifeStage:
    group = "SAVINGS_"
    agreed = [
        contract
        for contract in view.contracts
        if contract.category.startswith("SAVINGS_")
        and not contract.is_income
        and contract.status is not Status.INACTIVE
    ]
    if agreed:
        ids = [number for contract in agreed for number in contract.transaction_ids_regular[-1:]]
        return _tell(group + "REGULAR", 0.95, f"{len(agreed)} agreements put money aside", ids)
    saved = view.list_recent(12, lambda record: record.category.startswith("SAVINGS_") and record.amount < 0)
    begin = subtract_months(view.today, _SAVINGS_MONTHS)
    months = {(record.day.year, record.day.month) for record in saved if record.day > begin}
    ids = [record.id for record in saved[-6:]]
    if len(months) >= _REGULAR_MONTHS:
        return _tell(group + "REGULAR", 0.85, f"Money was put aside in {len(months)} of the last months", ids)
    if saved:
        return _tell(group + "IRREGULAR", 0.85, f"Money was put aside {len(saved)} times in twelve months", ids)
    return _tell(group + "NONE", 0.85, "No money was put aside in twelve months")
