-- Analyses say until which day there is data. The first look at a product on a new day changes that, and nothing else.

create or replace function raise_data_version_of_products() returns trigger language plpgsql as $$
begin
    insert into data_versions as kept (user_id)
        select distinct changed.user_id from changed
        join before on before.user_id = changed.user_id and before.id = changed.id
        join users on users.id = changed.user_id
        where to_jsonb(changed) - 'updated_at' is distinct from to_jsonb(before) - 'updated_at'
            or (changed.updated_at at time zone 'Europe/Berlin')::date
                is distinct from (before.updated_at at time zone 'Europe/Berlin')::date
        order by changed.user_id
        on conflict (user_id) do update set version = kept.version + 1;
    return null;
end
$$;
