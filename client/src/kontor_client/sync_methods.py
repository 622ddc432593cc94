"""All operations as methods to wait for."""

from kontor_client.binding import iterated, waited
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
from kontor_client.running import SyncRunner


class SyncMethods(SyncRunner):
    """One method for each operation."""

    # Accesses

    read_customer = waited(accesses.read_customer)
    list_accesses = waited(accesses.list_accesses)
    read_access = waited(accesses.read_access)
    read_issues = waited(accesses.read_issues)
    encrypt = waited(accesses.encrypt)
    add_access = waited(accesses.add_access)
    refresh_access = waited(accesses.refresh_access)
    set_statements = waited(accesses.set_statements)
    wait_until_complete = waited(accesses.wait_until_complete)
    delete_access = waited(accesses.delete_access)
    start_web_form = waited(accesses.start_web_form)
    renew_in_web_form = waited(accesses.renew_in_web_form)
    end_web_forms = waited(accesses.end_web_forms)
    delete_accesses = waited(accesses.delete_accesses)
    list_web_forms = waited(form_sessions.list_web_forms)
    read_web_form = waited(form_sessions.read_web_form)
    end_web_form = waited(form_sessions.end_web_form)

    # Products and transactions

    read_product = waited(transactions.read_product)
    iterate_transactions = iterated(transactions.iterate_transactions)
    list_transactions = waited(transactions.list_transactions)
    list_positions = waited(transactions.list_positions)
    list_account_statements = waited(transactions.list_account_statements)
    read_account_statement = waited(transactions.read_account_statement)
    push_transactions = waited(transactions.push_transactions)
    push_statement = waited(transactions.push_statement)
    preview_statement = waited(transactions.preview_statement)
    import_file = waited(imports.import_file)
    preview_import = waited(imports.preview_import)
    read_import = waited(imports.read_import)
    list_import_forms = waited(imports.list_import_forms)
    add_import_form = waited(imports.add_import_form)
    delete_import_form = waited(imports.delete_import_form)
    iterate_all_transactions = iterated(all_transactions.iterate_all_transactions)
    list_all_transactions = waited(all_transactions.list_all_transactions)
    sum_transactions = waited(all_transactions.sum_transactions)
    list_transaction_changes = waited(all_transactions.list_transaction_changes)
    list_all_transaction_changes = waited(all_transactions.list_all_transaction_changes)
    list_balances = waited(all_transactions.list_balances)
    list_completeness = waited(all_transactions.list_completeness)
    annotate_transaction = waited(transaction_edits.annotate_transaction)
    edit_transactions = waited(transaction_edits.edit_transactions)
    preview_edit = waited(transaction_edits.preview_edit)
    list_transaction_edits = waited(transaction_edits.list_transaction_edits)
    read_transaction_edit = waited(transaction_edits.read_transaction_edit)
    undo_transaction_edit = waited(transaction_edits.undo_transaction_edit)
    read_import_form = waited(imports.read_import_form)

    # Consents

    start_consent = waited(consents.start_consent)
    read_consent = waited(consents.read_consent)
    cancel_consent = waited(consents.cancel_consent)
    authenticate_consent = waited(consents.authenticate_consent)
    give_consent = waited(consents.give_consent)
    answer_consent = waited(sca_answers.answer_consent)
    poll_consent = waited(sca_answers.poll_consent)

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
    list_payees = waited(payees.list_payees)
    read_payee = waited(payees.read_payee)
    update_payee = waited(payees.update_payee)
    read_payment_evidence = waited(payees.read_payment_evidence)
    read_transfer_of_product = waited(payments.read_transfer_of_product)
    order_transfer_with_credentials = waited(payments_with_credentials.order_transfer_with_credentials)
    verify_payee_with_credentials = waited(payments_with_credentials.verify_payee_with_credentials)
    answer_transfer = waited(sca_answers.answer_transfer)
    poll_transfer = waited(sca_answers.poll_transfer)
    confirm_payee = waited(sca_answers.confirm_payee)
    start_legacy_transfer = waited(legacy_transfers.start_legacy_transfer)
    submit_text_tan = waited(legacy_transfers.submit_text_tan)

    # Standing orders

    list_standing_orders = waited(standing_orders.list_standing_orders)
    read_standing_order = waited(standing_orders.read_standing_order)
    create_standing_order = waited(standing_orders.create_standing_order)
    change_standing_order = waited(standing_orders.change_standing_order)
    delete_standing_order = waited(standing_orders.delete_standing_order)
    read_standing_order_status = waited(standing_orders.read_standing_order_status)
    cancel_standing_order = waited(standing_orders.cancel_standing_order)
    authenticate_standing_order = waited(standing_orders.authenticate_standing_order)
    answer_standing_order = waited(sca_answers.answer_standing_order)
    poll_standing_order = waited(sca_answers.poll_standing_order)
    confirm_payee_of_standing_order = waited(sca_answers.confirm_payee_of_standing_order)

    # Direct debits

    collect_direct_debits = waited(direct_debits.collect_direct_debits)
    read_direct_debit = waited(direct_debits.read_direct_debit)
    cancel_direct_debit = waited(direct_debits.cancel_direct_debit)
    authenticate_direct_debit = waited(direct_debits.authenticate_direct_debit)
    export_direct_debit = waited(direct_debits.export_direct_debit)
    answer_direct_debit = waited(sca_answers.answer_direct_debit)
    poll_direct_debit = waited(sca_answers.poll_direct_debit)

    # Analyses

    list_contracts = waited(analyses.list_contracts)
    update_contract = waited(contracts.update_contract)
    write_cancellation = waited(contracts.write_cancellation)
    list_returnable_debits = waited(debit_returns.list_returnable_debits)
    read_returnable_debit = waited(debit_returns.read_returnable_debit)
    write_debit_return = waited(debit_returns.write_debit_return)
    read_cashflow = waited(analyses.read_cashflow)
    read_disposable_money = waited(analyses.read_disposable_money)
    list_life_events = waited(analyses.list_life_events)
    list_life_stages = waited(analyses.list_life_stages)
    list_sales_triggers = waited(analyses.list_sales_triggers)
    read_affordability = waited(analyses.read_affordability)
    read_credit_check = waited(analyses.read_credit_check)
    tag_transactions = waited(stateless.tag_transactions)
    analyse_transactions = waited(stateless.analyse_transactions)

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
    read_tag_tree = waited(tags.read_tag_tree)
    read_tag_tree_item = waited(tags.read_tag_tree_item)
    read_tagging_rule = waited(tags.read_tagging_rule)
    delete_tagging_rules = waited(tags.delete_tagging_rules)
    read_own_category = waited(own_categories.read_own_category)

    # Budgets and savings goals

    list_budgets = waited(budgets.list_budgets)
    read_budget = waited(budgets.read_budget)
    add_budget = waited(budgets.add_budget)
    change_budget = waited(budgets.change_budget)
    delete_budget = waited(budgets.delete_budget)
    list_savings_goals = waited(savings_goals.list_savings_goals)
    read_savings_goal = waited(savings_goals.read_savings_goal)
    add_savings_goal = waited(savings_goals.add_savings_goal)
    change_savings_goal = waited(savings_goals.change_savings_goal)
    delete_savings_goal = waited(savings_goals.delete_savings_goal)

    # Alerts

    list_alerts = waited(alerts.list_alerts)
    read_alert = waited(alerts.read_alert)
    update_alert = waited(alerts.update_alert)
    read_push_key = waited(alerts.read_push_key)
    list_push_subscriptions = waited(alerts.list_push_subscriptions)
    read_push_subscription = waited(alerts.read_push_subscription)
    add_push_subscription = waited(alerts.add_push_subscription)
    delete_push_subscription = waited(alerts.delete_push_subscription)

    # Providers

    list_providers = waited(providers.list_providers)
    list_provider_statistics = waited(providers.list_provider_statistics)
    read_provider = waited(providers.read_provider)
    read_provider_statistics = waited(providers.read_provider_statistics)
    read_logo = waited(providers.read_logo)

    # The customer as a whole

    export = waited(customers.export)
    erase_customer = waited(customers.erase_customer)
    change_password = waited(customers.change_password)
    list_own_tokens = waited(customers.list_own_tokens)
    revoke_own_tokens = waited(customers.revoke_own_tokens)

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
    read_webhook = waited(management.read_webhook)
    read_liveness = waited(management.read_liveness)
    read_metrics = waited(management.read_metrics)
    list_tenants = waited(tenants.list_tenants)
    read_tenant = waited(tenants.read_tenant)
    read_certificate = waited(tenants.read_certificate)
    list_clients = waited(tenants.list_clients)
    read_client = waited(tenants.read_client)
    list_roles = waited(tenants.list_roles)
    read_role = waited(tenants.read_role)
    list_role_users = waited(tenants.list_role_users)
    assign_role = waited(tenants.assign_role)
    read_role_user = waited(tenants.read_role_user)
    read_user = waited(tenants.read_user)
    rename_user = waited(tenants.rename_user)
    deactivate_user = waited(tenants.deactivate_user)
    reactivate_user = waited(tenants.reactivate_user)
    erase_user = waited(tenants.erase_user)
    list_tenant_merchants = waited(tenant_merchants.list_tenant_merchants)
    read_tenant_merchant = waited(tenant_merchants.read_tenant_merchant)
    change_tenant_merchant = waited(tenant_merchants.change_tenant_merchant)
    delete_tenant_merchant = waited(tenant_merchants.delete_tenant_merchant)
    list_tenant_rules = waited(tenant_rules.list_tenant_rules)
    add_tenant_rule = waited(tenant_rules.add_tenant_rule)
    read_tenant_rule = waited(tenant_rules.read_tenant_rule)
    change_tenant_rule = waited(tenant_rules.change_tenant_rule)
    delete_tenant_rule = waited(tenant_rules.delete_tenant_rule)
    list_tenant_categories = waited(tenant_rules.list_tenant_categories)
    add_tenant_category = waited(tenant_rules.add_tenant_category)
    read_tenant_category = waited(tenant_rules.read_tenant_category)
    change_tenant_category = waited(tenant_rules.change_tenant_category)
    delete_tenant_category = waited(tenant_rules.delete_tenant_category)
    introspect_token = waited(tokens.introspect_token)
    read_server_metadata = waited(tokens.read_server_metadata)
    read_resource_metadata = waited(tokens.read_resource_metadata)
    revoke_token = waited(tokens.revoke_token)

    # Advisers

    list_permissions = waited(permissions.list_permissions)
    read_permission = waited(permissions.read_permission)
    withdraw_permission = waited(permissions.withdraw_permission)
    list_disclosures = waited(disclosures.list_disclosures)
    read_disclosure = waited(disclosures.read_disclosure)
    add_disclosure = waited(disclosures.add_disclosure)
    withdraw_disclosure = waited(disclosures.withdraw_disclosure)
    list_disclosure_reads = waited(disclosures.list_disclosure_reads)
    list_disclosing_customers = waited(disclosures.list_disclosing_customers)
    list_customer_sales_triggers = waited(disclosures.list_customer_sales_triggers)
    list_customer_contracts = waited(disclosures.list_customer_contracts)
    read_customer_affordability = waited(disclosures.read_customer_affordability)
    read_customer_credit_check = waited(disclosures.read_customer_credit_check)
    list_credit_files = waited(credit_files.list_credit_files)
    read_credit_file = waited(credit_files.read_credit_file)
    create_credit_file = waited(credit_files.create_credit_file)
    print_credit_file = waited(credit_files.print_credit_file)
    delete_credit_file = waited(credit_files.delete_credit_file)
    request_credit_file_review = waited(credit_files.request_credit_file_review)
    list_credit_file_reviews = waited(credit_files.list_credit_file_reviews)
    read_customer_credit_file = waited(credit_files.read_customer_credit_file)
    list_credit_file_transactions = waited(credit_files.list_credit_file_transactions)
    read_review_request = waited(credit_files.read_review_request)
    review_credit_file = waited(credit_files.review_credit_file)
    list_signing_keys = waited(credit_files.list_signing_keys)

    # Operators

    list_operated_tenants = waited(operators.list_operated_tenants)
    list_operated_clients = waited(operators.list_operated_clients)
    list_operated_users = waited(operators.list_operated_users)
    list_operated_accesses = waited(operators.list_operated_accesses)
    summarise_accesses = waited(operators.summarise_accesses)
    read_operated_access = waited(operators.read_operated_access)
    retry_operated_access = waited(operators.retry_operated_access)
    pause_operated_access = waited(operators.pause_operated_access)
    resume_operated_access = waited(operators.resume_operated_access)
    read_job = waited(operators.read_job)
    retry_job = waited(operators.retry_job)
    list_refreshes = waited(operators.list_refreshes)
    summarise_refreshes = waited(operators.summarise_refreshes)
    list_operated_providers = waited(operators.list_operated_providers)
    list_operated_webhooks = waited(operators.list_operated_webhooks)
    list_operated_deliveries = waited(operators.list_operated_deliveries)
    replay_operated_delivery = waited(operators.replay_operated_delivery)
    list_jobs = waited(operators.list_jobs)
    list_held_jobs = waited(operators.list_held_jobs)
    list_workers = waited(operators.list_workers)
    list_egress = waited(operators.list_egress)
    list_audit_entries = waited(operators.list_audit_entries)
    verify_audit_trail = waited(operators.verify_audit_trail)
    check_health = waited(operators.check_health)
