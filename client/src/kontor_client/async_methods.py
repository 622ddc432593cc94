"""All operations as methods to await."""

from kontor_client.binding import awaited, iterated_async
from kontor_client.operations import (
    accesses,
    alerts,
    all_transactions,
    analyses,
    budgets,
    consents,
    contracts,
    credit_files,
    customers,
    debit_returns,
    direct_debits,
    disclosures,
    form_sessions,
    imports,
    legacy_transfers,
    management,
    operators,
    own_categories,
    payees,
    payments,
    payments_with_credentials,
    permissions,
    providers,
    savings_goals,
    sca_answers,
    standing_orders,
    stateless,
    tags,
    tenant_merchants,
    tenant_rules,
    tenants,
    tokens,
    transaction_edits,
    transactions,
)
from kontor_client.running import AsyncRunner


class AsyncMethods(AsyncRunner):
    """One method for each operation."""

    # Accesses

    read_customer = awaited(accesses.read_customer)
    list_accesses = awaited(accesses.list_accesses)
    read_access = awaited(accesses.read_access)
    read_issues = awaited(accesses.read_issues)
    encrypt = awaited(accesses.encrypt)
    add_access = awaited(accesses.add_access)
    refresh_access = awaited(accesses.refresh_access)
    set_statements = awaited(accesses.set_statements)
    wait_until_complete = awaited(accesses.wait_until_complete)
    delete_access = awaited(accesses.delete_access)
    start_web_form = awaited(accesses.start_web_form)
    renew_in_web_form = awaited(accesses.renew_in_web_form)
    end_web_forms = awaited(accesses.end_web_forms)
    delete_accesses = awaited(accesses.delete_accesses)
    list_web_forms = awaited(form_sessions.list_web_forms)
    read_web_form = awaited(form_sessions.read_web_form)
    end_web_form = awaited(form_sessions.end_web_form)

    # Products and transactions

    read_product = awaited(transactions.read_product)
    iterate_transactions = iterated_async(transactions.iterate_transactions)
    list_transactions = awaited(transactions.list_transactions)
    list_positions = awaited(transactions.list_positions)
    list_account_statements = awaited(transactions.list_account_statements)
    read_account_statement = awaited(transactions.read_account_statement)
    push_transactions = awaited(transactions.push_transactions)
    push_statement = awaited(transactions.push_statement)
    preview_statement = awaited(transactions.preview_statement)
    import_file = awaited(imports.import_file)
    preview_import = awaited(imports.preview_import)
    read_import = awaited(imports.read_import)
    list_import_forms = awaited(imports.list_import_forms)
    add_import_form = awaited(imports.add_import_form)
    delete_import_form = awaited(imports.delete_import_form)
    iterate_all_transactions = iterated_async(all_transactions.iterate_all_transactions)
    list_all_transactions = awaited(all_transactions.list_all_transactions)
    sum_transactions = awaited(all_transactions.sum_transactions)
    list_transaction_changes = awaited(all_transactions.list_transaction_changes)
    list_all_transaction_changes = awaited(all_transactions.list_all_transaction_changes)
    list_balances = awaited(all_transactions.list_balances)
    list_completeness = awaited(all_transactions.list_completeness)
    annotate_transaction = awaited(transaction_edits.annotate_transaction)
    edit_transactions = awaited(transaction_edits.edit_transactions)
    preview_edit = awaited(transaction_edits.preview_edit)
    list_transaction_edits = awaited(transaction_edits.list_transaction_edits)
    read_transaction_edit = awaited(transaction_edits.read_transaction_edit)
    undo_transaction_edit = awaited(transaction_edits.undo_transaction_edit)
    read_import_form = awaited(imports.read_import_form)

    # Consents

    start_consent = awaited(consents.start_consent)
    read_consent = awaited(consents.read_consent)
    cancel_consent = awaited(consents.cancel_consent)
    authenticate_consent = awaited(consents.authenticate_consent)
    give_consent = awaited(consents.give_consent)
    answer_consent = awaited(sca_answers.answer_consent)
    poll_consent = awaited(sca_answers.poll_consent)

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
    list_payees = awaited(payees.list_payees)
    read_payee = awaited(payees.read_payee)
    update_payee = awaited(payees.update_payee)
    read_payment_evidence = awaited(payees.read_payment_evidence)
    read_transfer_of_product = awaited(payments.read_transfer_of_product)
    order_transfer_with_credentials = awaited(payments_with_credentials.order_transfer_with_credentials)
    verify_payee_with_credentials = awaited(payments_with_credentials.verify_payee_with_credentials)
    answer_transfer = awaited(sca_answers.answer_transfer)
    poll_transfer = awaited(sca_answers.poll_transfer)
    confirm_payee = awaited(sca_answers.confirm_payee)
    start_legacy_transfer = awaited(legacy_transfers.start_legacy_transfer)
    submit_text_tan = awaited(legacy_transfers.submit_text_tan)

    # Standing orders

    list_standing_orders = awaited(standing_orders.list_standing_orders)
    read_standing_order = awaited(standing_orders.read_standing_order)
    create_standing_order = awaited(standing_orders.create_standing_order)
    change_standing_order = awaited(standing_orders.change_standing_order)
    delete_standing_order = awaited(standing_orders.delete_standing_order)
    read_standing_order_status = awaited(standing_orders.read_standing_order_status)
    cancel_standing_order = awaited(standing_orders.cancel_standing_order)
    authenticate_standing_order = awaited(standing_orders.authenticate_standing_order)
    answer_standing_order = awaited(sca_answers.answer_standing_order)
    poll_standing_order = awaited(sca_answers.poll_standing_order)
    confirm_payee_of_standing_order = awaited(sca_answers.confirm_payee_of_standing_order)

    # Direct debits

    collect_direct_debits = awaited(direct_debits.collect_direct_debits)
    read_direct_debit = awaited(direct_debits.read_direct_debit)
    cancel_direct_debit = awaited(direct_debits.cancel_direct_debit)
    authenticate_direct_debit = awaited(direct_debits.authenticate_direct_debit)
    export_direct_debit = awaited(direct_debits.export_direct_debit)
    answer_direct_debit = awaited(sca_answers.answer_direct_debit)
    poll_direct_debit = awaited(sca_answers.poll_direct_debit)

    # Analyses

    list_contracts = awaited(analyses.list_contracts)
    update_contract = awaited(contracts.update_contract)
    write_cancellation = awaited(contracts.write_cancellation)
    list_returnable_debits = awaited(debit_returns.list_returnable_debits)
    read_returnable_debit = awaited(debit_returns.read_returnable_debit)
    write_debit_return = awaited(debit_returns.write_debit_return)
    read_cashflow = awaited(analyses.read_cashflow)
    read_disposable_money = awaited(analyses.read_disposable_money)
    list_life_events = awaited(analyses.list_life_events)
    list_life_stages = awaited(analyses.list_life_stages)
    list_sales_triggers = awaited(analyses.list_sales_triggers)
    read_affordability = awaited(analyses.read_affordability)
    read_credit_check = awaited(analyses.read_credit_check)
    tag_transactions = awaited(stateless.tag_transactions)
    analyse_transactions = awaited(stateless.analyse_transactions)

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
    read_tag_tree = awaited(tags.read_tag_tree)
    read_tag_tree_item = awaited(tags.read_tag_tree_item)
    read_tagging_rule = awaited(tags.read_tagging_rule)
    delete_tagging_rules = awaited(tags.delete_tagging_rules)
    read_own_category = awaited(own_categories.read_own_category)

    # Budgets and savings goals

    list_budgets = awaited(budgets.list_budgets)
    read_budget = awaited(budgets.read_budget)
    add_budget = awaited(budgets.add_budget)
    change_budget = awaited(budgets.change_budget)
    delete_budget = awaited(budgets.delete_budget)
    list_savings_goals = awaited(savings_goals.list_savings_goals)
    read_savings_goal = awaited(savings_goals.read_savings_goal)
    add_savings_goal = awaited(savings_goals.add_savings_goal)
    change_savings_goal = awaited(savings_goals.change_savings_goal)
    delete_savings_goal = awaited(savings_goals.delete_savings_goal)

    # Alerts

    list_alerts = awaited(alerts.list_alerts)
    read_alert = awaited(alerts.read_alert)
    update_alert = awaited(alerts.update_alert)
    read_push_key = awaited(alerts.read_push_key)
    list_push_subscriptions = awaited(alerts.list_push_subscriptions)
    read_push_subscription = awaited(alerts.read_push_subscription)
    add_push_subscription = awaited(alerts.add_push_subscription)
    delete_push_subscription = awaited(alerts.delete_push_subscription)

    # Providers

    list_providers = awaited(providers.list_providers)
    list_provider_statistics = awaited(providers.list_provider_statistics)
    read_provider = awaited(providers.read_provider)
    read_provider_statistics = awaited(providers.read_provider_statistics)
    read_logo = awaited(providers.read_logo)

    # The customer as a whole

    export = awaited(customers.export)
    erase_customer = awaited(customers.erase_customer)
    change_password = awaited(customers.change_password)
    list_own_tokens = awaited(customers.list_own_tokens)
    revoke_own_tokens = awaited(customers.revoke_own_tokens)

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
    read_webhook = awaited(management.read_webhook)
    read_liveness = awaited(management.read_liveness)
    read_metrics = awaited(management.read_metrics)
    list_tenants = awaited(tenants.list_tenants)
    read_tenant = awaited(tenants.read_tenant)
    read_certificate = awaited(tenants.read_certificate)
    list_clients = awaited(tenants.list_clients)
    read_client = awaited(tenants.read_client)
    list_roles = awaited(tenants.list_roles)
    read_role = awaited(tenants.read_role)
    list_role_users = awaited(tenants.list_role_users)
    assign_role = awaited(tenants.assign_role)
    read_role_user = awaited(tenants.read_role_user)
    read_user = awaited(tenants.read_user)
    rename_user = awaited(tenants.rename_user)
    deactivate_user = awaited(tenants.deactivate_user)
    reactivate_user = awaited(tenants.reactivate_user)
    erase_user = awaited(tenants.erase_user)
    list_tenant_merchants = awaited(tenant_merchants.list_tenant_merchants)
    read_tenant_merchant = awaited(tenant_merchants.read_tenant_merchant)
    change_tenant_merchant = awaited(tenant_merchants.change_tenant_merchant)
    delete_tenant_merchant = awaited(tenant_merchants.delete_tenant_merchant)
    list_tenant_rules = awaited(tenant_rules.list_tenant_rules)
    add_tenant_rule = awaited(tenant_rules.add_tenant_rule)
    read_tenant_rule = awaited(tenant_rules.read_tenant_rule)
    change_tenant_rule = awaited(tenant_rules.change_tenant_rule)
    delete_tenant_rule = awaited(tenant_rules.delete_tenant_rule)
    list_tenant_categories = awaited(tenant_rules.list_tenant_categories)
    add_tenant_category = awaited(tenant_rules.add_tenant_category)
    read_tenant_category = awaited(tenant_rules.read_tenant_category)
    change_tenant_category = awaited(tenant_rules.change_tenant_category)
    delete_tenant_category = awaited(tenant_rules.delete_tenant_category)
    introspect_token = awaited(tokens.introspect_token)
    read_server_metadata = awaited(tokens.read_server_metadata)
    read_resource_metadata = awaited(tokens.read_resource_metadata)
    revoke_token = awaited(tokens.revoke_token)

    # Advisers

    list_permissions = awaited(permissions.list_permissions)
    read_permission = awaited(permissions.read_permission)
    withdraw_permission = awaited(permissions.withdraw_permission)
    list_disclosures = awaited(disclosures.list_disclosures)
    read_disclosure = awaited(disclosures.read_disclosure)
    add_disclosure = awaited(disclosures.add_disclosure)
    withdraw_disclosure = awaited(disclosures.withdraw_disclosure)
    list_disclosure_reads = awaited(disclosures.list_disclosure_reads)
    list_disclosing_customers = awaited(disclosures.list_disclosing_customers)
    list_customer_sales_triggers = awaited(disclosures.list_customer_sales_triggers)
    list_customer_contracts = awaited(disclosures.list_customer_contracts)
    read_customer_affordability = awaited(disclosures.read_customer_affordability)
    read_customer_credit_check = awaited(disclosures.read_customer_credit_check)
    list_credit_files = awaited(credit_files.list_credit_files)
    read_credit_file = awaited(credit_files.read_credit_file)
    create_credit_file = awaited(credit_files.create_credit_file)
    print_credit_file = awaited(credit_files.print_credit_file)
    delete_credit_file = awaited(credit_files.delete_credit_file)
    request_credit_file_review = awaited(credit_files.request_credit_file_review)
    list_credit_file_reviews = awaited(credit_files.list_credit_file_reviews)
    read_customer_credit_file = awaited(credit_files.read_customer_credit_file)
    list_credit_file_transactions = awaited(credit_files.list_credit_file_transactions)
    read_review_request = awaited(credit_files.read_review_request)
    review_credit_file = awaited(credit_files.review_credit_file)
    list_signing_keys = awaited(credit_files.list_signing_keys)

    # Operators

    list_operated_tenants = awaited(operators.list_operated_tenants)
    list_operated_clients = awaited(operators.list_operated_clients)
    list_operated_users = awaited(operators.list_operated_users)
    list_operated_accesses = awaited(operators.list_operated_accesses)
    summarise_accesses = awaited(operators.summarise_accesses)
    read_operated_access = awaited(operators.read_operated_access)
    retry_operated_access = awaited(operators.retry_operated_access)
    pause_operated_access = awaited(operators.pause_operated_access)
    resume_operated_access = awaited(operators.resume_operated_access)
    read_job = awaited(operators.read_job)
    retry_job = awaited(operators.retry_job)
    list_refreshes = awaited(operators.list_refreshes)
    summarise_refreshes = awaited(operators.summarise_refreshes)
    list_operated_providers = awaited(operators.list_operated_providers)
    list_operated_webhooks = awaited(operators.list_operated_webhooks)
    list_operated_deliveries = awaited(operators.list_operated_deliveries)
    replay_operated_delivery = awaited(operators.replay_operated_delivery)
    list_jobs = awaited(operators.list_jobs)
    list_held_jobs = awaited(operators.list_held_jobs)
    list_workers = awaited(operators.list_workers)
    list_egress = awaited(operators.list_egress)
    list_audit_entries = awaited(operators.list_audit_entries)
    verify_audit_trail = awaited(operators.verify_audit_trail)
    check_health = awaited(operators.check_health)
