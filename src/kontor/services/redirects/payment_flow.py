"""A payment in the web form: the part that every flow has. What only a payment has is in `payments`."""

from dataclasses import replace

from kontor.domain.payments import Payment
from kontor.domain.principals import user_of
from kontor.domain.providers import Provider
from kontor.domain.redirects import Branding, FormSession, FormStep, RedirectOutcome
from kontor.domain.sca_machine import AnswerKind
from kontor.services.accesses import Accesses
from kontor.services.banks import Providers
from kontor.services.redirects.payments import FormPayments
from kontor.services.redirects.views import FormView, PaymentFormView
from kontor.storage import payments
from kontor.storage.database import Connection


class PaymentFlow:
    def __init__(self, providers: Providers, accesses: Accesses, form_payments: FormPayments) -> None:
        self._providers = providers
        self._accesses = accesses
        self._payments = form_payments

    async def prepare(self, connection: Connection, session: FormSession) -> FormSession:
        """The account is fixed where the tenant has named it with the order."""
        assert session.payment_id is not None
        found = await payments.find_payment(connection, user_of(session.principal), session.payment_id)
        is_fixed = found is not None and found[0].lease_key is not None and found[2] is None
        return replace(session, is_source_fixed=is_fixed)

    async def find_first_step(self, connection: Connection, session: FormSession) -> FormSession:
        return replace(session, step=FormStep.PAYMENT)

    async def view(self, session: FormSession, branding: Branding) -> FormView:
        """A view without the payment where that is gone: the session has ended then."""
        session, payment = await self._payments.advance(session)
        if payment is None:
            return FormView(session=session, branding=branding)
        paying = payment.payment
        is_choosing = session.step in (FormStep.SOURCE, FormStep.PROVIDER)
        sources = tuple(await self._payments.list_sources(session)) if is_choosing else ()
        banks = [self._providers.find(source.access.provider_id) for source in sources]
        access = None
        if paying.access_id is not None:
            access = await self._accesses.find_for_form(session.principal, paying.access_id)
        return PaymentFormView(
            session=session,
            branding=branding,
            provider=self._find_provider(session, paying),
            access=access,
            payment=payment,
            sources=sources,
            banks={bank.id: bank.name for bank in banks if bank is not None},
        )

    def _find_provider(self, session: FormSession, payment: Payment) -> Provider | None:
        """Whose credentials are asked for, else the bank that pays."""
        is_asking = session.step in (FormStep.PROVIDER, FormStep.CREDENTIALS)
        provider_id = session.provider_id if is_asking else payment.provider_id
        return None if provider_id is None else self._providers.find(provider_id)

    async def answer(self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None) -> None:
        await self._payments.answer(session, kind, value, seen_wrong_tans)

    async def retry(self, session: FormSession) -> None:
        await self._payments.retry(session)

    async def leave(self, session: FormSession, reason: RedirectOutcome) -> None:
        await self._payments.leave(session, reason)

    async def expire(self, session: FormSession) -> FormSession:
        return await self._payments.expire(session)
