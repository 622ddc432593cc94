-- Keys of the installation itself, wrapped by the master key: they outlive a change of the master key.
create table system_keys (
    name text primary key,
    sealed bytea not null
);
