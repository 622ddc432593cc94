"""All that a page of the web form needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kontor.domain.providers import Provider
from kontor.domain.redirects import Branding, FormSession
from kontor.domain.stored_products import StoredProduct
from kontor.services.accesses import AccessView
from kontor.services.payments import PaymentView
from kontor.services.sca import ConsentView


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView:
    session: FormSession
    branding: Branding
    provider: Provider | None = None
    access: AccessView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFormView(FormView):
    """`offered` are the accounts among which the user chooses."""

    consent: ConsentView | None = None
    offered: tuple[StoredProduct, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentFormView(FormView):
    """`sources` are the accounts to pay from, `banks` the names of their banks."""

    payment: PaymentView
    sources: tuple[AccessView, ...] = ()
    banks: Mapping[UUID, str] = field(default_factory=dict)
