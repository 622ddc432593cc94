"""The two clients: the same operations, once to await and once to wait for."""

from typing import Any, Self

from kontor_client.binding import awaited, iterated, iterated_async, waited
from kontor_client.operations import (
    accesses,
    analyses,
    consents,
    contracts,
    customers,
    direct_debits,
    imports,
    management,
    own_categories,
    payments,
    providers,
    standing_orders,
    tags,
    transactions,
)
from kontor_client.running import AsyncRunner, SyncRunner
from kontor_client.sessions import client_login, key_login, user_login


class AsyncKontor(AsyncRunner):
    """A client for asyncio."""

    @classmethod
    async def login(
        cls,
        base_url: str,
        client: str,
        client_secret: str,
        username: str,
        password: str,
        *,
        scope: str | None = None,
        **options: Any,
    ) -> Self:
        """A client with a user's token, which is renewed as long as the password is right."""
        made = cls(base_url, login=user_login(client, client_secret, username, password, scope), **options)
        return await made._with_token()

    @classmethod
    async def login_client(
        cls, base_url: str, client: str, client_secret: str, *, scope: str | None = None, **options: Any
    ) -> Self:
        """A client with a token of a tenant's client, such as the admin client."""
        return await cls(base_url, login=client_login(client, client_secret, scope), **options)._with_token()

    @classmethod
    async def login_with_key(cls, base_url: str, api_key: str, **options: Any) -> Self:
        """A client with a user's token for an API key."""
        return await cls(base_url, login=key_login(api_key), **options)._with_token()

    async def _with_token(self) -> Self:
        try:
            await self.run(self.session.renew_token())
        except BaseException:
            await self.close()
            raise
        return self

    # Accesses

    read_customer = awaited(accesses.read_customer)
    list_accesses = awaited(accesses.list_accesses)
    read_access = awaited(accesses.read_access)
    read_issues = awaited(accesses.read_issues)
    encrypt = awaited(accesses.encrypt)
    add_access = awaited(accesses.add_access)
    refresh_access = awaited(accesses.refresh_access)
    wait_until_complete = awaited(accesses.wait_until_complete)
    delete_access = awaited(accesses.delete_access)
    start_web_form = awaited(accesses.start_web_form)
    renew_in_web_form = awaited(accesses.renew_in_web_form)
    end_web_forms = awaited(accesses.end_web_forms)

    # Products and transactions

    read_product = awaited(transactions.read_product)
    iterate_transactions = iterated_async(transactions.iterate_transactions)
    list_transactions = awaited(transactions.list_transactions)
    list_positions = awaited(transactions.list_positions)
    push_transactions = awaited(transactions.push_transactions)
    push_statement = awaited(transactions.push_statement)
    preview_statement = awaited(transactions.preview_statement)
    import_file = awaited(imports.import_file)
    preview_import = awaited(imports.preview_import)
    read_import = awaited(imports.read_import)
    list_import_forms = awaited(imports.list_import_forms)
    add_import_form = awaited(imports.add_import_form)
    delete_import_form = awaited(imports.delete_import_form)

    # Consents

    start_consent = awaited(consents.start_consent)
    read_consent = awaited(consents.read_consent)
    cancel_consent = awaited(consents.cancel_consent)
    authenticate_consent = awaited(consents.authenticate_consent)
    give_consent = awaited(consents.give_consent)

    # Payments

    order_transfer = awaited(payments.order_transfer)
    order_file = awaited(payments.order_file)
    verify_payee = awaited(payments.verify_payee)
    read_transfer = awaited(payments.read_transfer)
    list_payments = awaited(payments.list_payments)
    cancel_transfer = awaited(payments.cancel_transfer)
    authenticate_transfer = awaited(payments.authenticate_transfer)
    pay = awaited(payments.pay)
    wait_for_outcome = awaited(payments.wait_for_outcome)
    export_transfer = awaited(payments.export_transfer)

    # Standing orders

    list_standing_orders = awaited(standing_orders.list_standing_orders)
    read_standing_order = awaited(standing_orders.read_standing_order)
    create_standing_order = awaited(standing_orders.create_standing_order)
    change_standing_order = awaited(standing_orders.change_standing_order)
    delete_standing_order = awaited(standing_orders.delete_standing_order)
    read_standing_order_status = awaited(standing_orders.read_standing_order_status)
    cancel_standing_order = awaited(standing_orders.cancel_standing_order)
    authenticate_standing_order = awaited(standing_orders.authenticate_standing_order)

    # Direct debits

    collect_direct_debits = awaited(direct_debits.collect_direct_debits)
    read_direct_debit = awaited(direct_debits.read_direct_debit)
    cancel_direct_debit = awaited(direct_debits.cancel_direct_debit)
    authenticate_direct_debit = awaited(direct_debits.authenticate_direct_debit)
    export_direct_debit = awaited(direct_debits.export_direct_debit)

    # Analyses

    list_contracts = awaited(analyses.list_contracts)
    update_contract = awaited(contracts.update_contract)
    write_cancellation = awaited(contracts.write_cancellation)
    read_cashflow = awaited(analyses.read_cashflow)
    read_disposable_money = awaited(analyses.read_disposable_money)
    list_life_events = awaited(analyses.list_life_events)
    list_life_stages = awaited(analyses.list_life_stages)
    list_sales_triggers = awaited(analyses.list_sales_triggers)
    read_affordability = awaited(analyses.read_affordability)
    read_credit_check = awaited(analyses.read_credit_check)

    # Tags

    list_tag_trees = awaited(tags.list_tag_trees)
    list_tag_tree_items = awaited(tags.list_tag_tree_items)
    correct_category = awaited(tags.correct_category)
    list_tagging_rules = awaited(tags.list_tagging_rules)
    add_tagging_rule = awaited(tags.add_tagging_rule)
    change_tagging_rule = awaited(tags.change_tagging_rule)
    preview_tagging_rule = awaited(tags.preview_tagging_rule)
    delete_tagging_rule = awaited(tags.delete_tagging_rule)
    list_own_categories = awaited(own_categories.list_own_categories)
    add_own_category = awaited(own_categories.add_own_category)
    change_own_category = awaited(own_categories.change_own_category)
    delete_own_category = awaited(own_categories.delete_own_category)

    # Providers

    list_providers = awaited(providers.list_providers)
    list_provider_statistics = awaited(providers.list_provider_statistics)
    read_provider = awaited(providers.read_provider)
    read_provider_statistics = awaited(providers.read_provider_statistics)

    # The customer as a whole

    export = awaited(customers.export)
    erase_customer = awaited(customers.erase_customer)

    # A tenant's administration, and health

    create_user = awaited(management.create_user)
    list_users = awaited(management.list_users)
    create_webhook = awaited(management.create_webhook)
    list_webhooks = awaited(management.list_webhooks)
    change_webhook = awaited(management.change_webhook)
    delete_webhook = awaited(management.delete_webhook)
    list_deliveries = awaited(management.list_deliveries)
    replay_delivery = awaited(management.replay_delivery)
    list_events = awaited(management.list_events)
    read_health = awaited(management.read_health)


class Kontor(SyncRunner):
    """A client without asyncio."""

    @classmethod
    def login(
        cls,
        base_url: str,
        client: str,
        client_secret: str,
        username: str,
        password: str,
        *,
        scope: str | None = None,
        **options: Any,
    ) -> Self:
        """A client with a user's token, which is renewed as long as the password is right."""
        made = cls(base_url, login=user_login(client, client_secret, username, password, scope), **options)
        return made._with_token()

    @classmethod
    def login_client(
        cls, base_url: str, client: str, client_secret: str, *, scope: str | None = None, **options: Any
    ) -> Self:
        """A client with a token of a tenant's client, such as the admin client."""
        return cls(base_url, login=client_login(client, client_secret, scope), **options)._with_token()

    @classmethod
    def login_with_key(cls, base_url: str, api_key: str, **options: Any) -> Self:
        """A client with a user's token for an API key."""
        return cls(base_url, login=key_login(api_key), **options)._with_token()

    def _with_token(self) -> Self:
        try:
            self.run(self.session.renew_token())
        except BaseException:
            self.close()
            raise
        return self

    # Accesses

    read_customer = waited(accesses.read_customer)
    list_accesses = waited(accesses.list_accesses)
    read_access = waited(accesses.read_access)
    read_issues = waited(accesses.read_issues)
    encrypt = waited(accesses.encrypt)
    add_access = waited(accesses.add_access)
    refresh_access = waited(accesses.refresh_access)
    wait_until_complete = waited(accesses.wait_until_complete)
    delete_access = waited(accesses.delete_access)
    start_web_form = waited(accesses.start_web_form)
    renew_in_web_form = waited(accesses.renew_in_web_form)
    end_web_forms = waited(accesses.end_web_forms)

    # Products and transactions

    read_product = waited(transactions.read_product)
    iterate_transactions = iterated(transactions.iterate_transactions)
    list_transactions = waited(transactions.list_transactions)
    list_positions = waited(transactions.list_positions)
    push_transactions = waited(transactions.push_transactions)
    push_statement = waited(transactions.push_statement)
    preview_statement = waited(transactions.preview_statement)
    import_file = waited(imports.import_file)
    preview_import = waited(imports.preview_import)
    read_import = waited(imports.read_import)
    list_import_forms = waited(imports.list_import_forms)
    add_import_form = waited(imports.add_import_form)
    delete_import_form = waited(imports.delete_import_form)

    # Consents

    start_consent = waited(consents.start_consent)
    read_consent = waited(consents.read_consent)
    cancel_consent = waited(consents.cancel_consent)
    authenticate_consent = waited(consents.authenticate_consent)
    give_consent = waited(consents.give_consent)

    # Payments

    order_transfer = waited(payments.order_transfer)
    order_file = waited(payments.order_file)
    verify_payee = waited(payments.verify_payee)
    read_transfer = waited(payments.read_transfer)
    list_payments = waited(payments.list_payments)
    cancel_transfer = waited(payments.cancel_transfer)
    authenticate_transfer = waited(payments.authenticate_transfer)
    pay = waited(payments.pay)
    wait_for_outcome = waited(payments.wait_for_outcome)
    export_transfer = waited(payments.export_transfer)

    # Standing orders

    list_standing_orders = waited(standing_orders.list_standing_orders)
    read_standing_order = waited(standing_orders.read_standing_order)
    create_standing_order = waited(standing_orders.create_standing_order)
    change_standing_order = waited(standing_orders.change_standing_order)
    delete_standing_order = waited(standing_orders.delete_standing_order)
    read_standing_order_status = waited(standing_orders.read_standing_order_status)
    cancel_standing_order = waited(standing_orders.cancel_standing_order)
    authenticate_standing_order = waited(standing_orders.authenticate_standing_order)

    # Direct debits

    collect_direct_debits = waited(direct_debits.collect_direct_debits)
    read_direct_debit = waited(direct_debits.read_direct_debit)
    cancel_direct_debit = waited(direct_debits.cancel_direct_debit)
    authenticate_direct_debit = waited(direct_debits.authenticate_direct_debit)
    export_direct_debit = waited(direct_debits.export_direct_debit)

    # Analyses

    list_contracts = waited(analyses.list_contracts)
    update_contract = waited(contracts.update_contract)
    write_cancellation = waited(contracts.write_cancellation)
    read_cashflow = waited(analyses.read_cashflow)
    read_disposable_money = waited(analyses.read_disposable_money)
    list_life_events = waited(analyses.list_life_events)
    list_life_stages = waited(analyses.list_life_stages)
    list_sales_triggers = waited(analyses.list_sales_triggers)
    read_affordability = waited(analyses.read_affordability)
    read_credit_check = waited(analyses.read_credit_check)

    # Tags

    list_tag_trees = waited(tags.list_tag_trees)
    list_tag_tree_items = waited(tags.list_tag_tree_items)
    correct_category = waited(tags.correct_category)
    list_tagging_rules = waited(tags.list_tagging_rules)
    add_tagging_rule = waited(tags.add_tagging_rule)
    change_tagging_rule = waited(tags.change_tagging_rule)
    preview_tagging_rule = waited(tags.preview_tagging_rule)
    delete_tagging_rule = waited(tags.delete_tagging_rule)
    list_own_categories = waited(own_categories.list_own_categories)
    add_own_category = waited(own_categories.add_own_category)
    change_own_category = waited(own_categories.change_own_category)
    delete_own_category = waited(own_categories.delete_own_category)

    # Providers

    list_providers = waited(providers.list_providers)
    list_provider_statistics = waited(providers.list_provider_statistics)
    read_provider = waited(providers.read_provider)
    read_provider_statistics = waited(providers.read_provider_statistics)

    # The customer as a whole

    export = waited(customers.export)
    erase_customer = waited(customers.erase_customer)

    # A tenant's administration, and health

    create_user = waited(management.create_user)
    list_users = waited(management.list_users)
    create_webhook = waited(management.create_webhook)
    list_webhooks = waited(management.list_webhooks)
    change_webhook = waited(management.change_webhook)
    delete_webhook = waited(management.delete_webhook)
    list_deliveries = waited(management.list_deliveries)
    replay_delivery = waited(management.replay_delivery)
    list_events = waited(management.list_events)
    read_health = waited(management.read_health)
