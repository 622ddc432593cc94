-- Browsers that users want to be told of alerts in (ADR 0068), and what is still to be sent to them.

-- `sealed` holds the endpoint and the browser's keys, `endpoint_digest` is a keyed hash: a browser belongs to one user.
-- `kinds` null: alerts of every kind.
create table push_subscriptions (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    endpoint_digest bytea not null,
    sealed bytea not null,
    kinds text[] check (cardinality(kinds) > 0),
    created_at timestamptz not null default now(),
    primary key (user_id, id)
);
create unique index push_subscriptions_by_endpoint on push_subscriptions (endpoint_digest);

-- A worker that sends moves `due_at` first: if it dies, another one sends then. The row goes when it is sent or given up.
create table push_messages (
    user_id uuid not null,
    id uuid not null,
    subscription_id uuid not null,
    alert_id uuid not null,
    kind text not null,
    due_at timestamptz not null default now(),
    begun_at timestamptz,
    attempts smallint not null default 0,
    primary key (user_id, id),
    foreign key (user_id, subscription_id) references push_subscriptions on delete cascade
);
create index push_messages_due on push_messages (due_at);
create index push_messages_by_subscription on push_messages (user_id, subscription_id);

create view all_push_subscriptions as select user_id, id, endpoint_digest from push_subscriptions;
create view all_push_messages as select user_id, id, due_at, begun_at, attempts from push_messages;
