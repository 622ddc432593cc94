-- A refresh writes when it looked at a product. That alone changes no analysis, so the user's kept answers stay good.

create function raise_data_version_of_products() returns trigger language plpgsql as $$
begin
    insert into data_versions as kept (user_id)
        select distinct changed.user_id from changed
        join before on before.user_id = changed.user_id and before.id = changed.id
        join users on users.id = changed.user_id
        where to_jsonb(changed) - 'updated_at' is distinct from to_jsonb(before) - 'updated_at'
        order by changed.user_id
        on conflict (user_id) do update set version = kept.version + 1;
    return null;
end
$$;

create or replace trigger products_updated after update on products
    referencing old table as before new table as changed
    for each statement execute function raise_data_version_of_products();
