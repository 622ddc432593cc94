-- ICT-related incidents of the installation, as operators record them, and when they submitted which report.
create table incidents (
    number integer generated always as identity primary key,
    title text not null,
    aware_at timestamptz not null,
    occurred_at timestamptz,
    classified_at timestamptz,
    is_major boolean,
    was_major boolean not null default false,
    criteria text[] not null default '{}',
    recovered_at timestamptz,
    closed_at timestamptz,
    created_at timestamptz not null default now()
);

create table incident_reports (
    incident integer not null references incidents on delete cascade,
    report text not null check (report in ('initial', 'intermediate', 'final')),
    submitted_at timestamptz not null,
    primary key (incident, report, submitted_at)
);
