-- Of several products that are one account, analyses take the freshest: a look that makes another one the freshest changes
-- them. Programs of this version raise the data version themselves. The triggers stay for the version before;
-- a version that is raised twice by one transaction is as good as one that is raised once.

create or replace function raise_data_version_of_products() returns trigger language plpgsql as $$
begin
    insert into data_versions as kept (user_id)
        select distinct changed.user_id from changed
        join before on before.user_id = changed.user_id and before.id = changed.id
        join users on users.id = changed.user_id
        where to_jsonb(changed) - 'updated_at' is distinct from to_jsonb(before) - 'updated_at'
            or (changed.updated_at at time zone 'Europe/Berlin')::date
                is distinct from (before.updated_at at time zone 'Europe/Berlin')::date
            or (changed.updated_at <> before.updated_at and exists (
                select 1 from products other
                where other.user_id = changed.user_id and other.access_id <> changed.access_id
                    and other.updated_at >= before.updated_at
                    and array[
                        nullif(ltrim(right(upper(regexp_replace(other.iban, '[^[:alnum:]]', '', 'g')), 10), '0'), ''),
                        nullif(ltrim(right(upper(regexp_replace(other.account_number, '[^[:alnum:]]', '', 'g')), 10), '0'), '')
                    ] && array[
                        nullif(ltrim(right(upper(regexp_replace(changed.iban, '[^[:alnum:]]', '', 'g')), 10), '0'), ''),
                        nullif(ltrim(right(upper(regexp_replace(changed.account_number, '[^[:alnum:]]', '', 'g')), 10), '0'), '')
                    ]
            ))
        order by changed.user_id
        on conflict (user_id) do update set version = kept.version + 1;
    return null;
end
$$;
