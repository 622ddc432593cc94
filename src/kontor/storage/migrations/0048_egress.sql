-- What left the installation: per day of UTC, host and purpose. Processes add what they have counted once a minute.
create table egress_days (
    day date not null,
    host text not null,
    purpose text not null,
    connections bigint not null,
    failures bigint not null,
    refused bigint not null,
    bytes_sent bigint not null,
    bytes_received bigint not null,
    primary key (day, host, purpose)
);
