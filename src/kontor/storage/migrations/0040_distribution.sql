-- For clusters that distribute tables by user (ADR 0062). On a single server nothing changes.

-- A migration calls this for each new table of customers, before it adds foreign keys to tables that are distributed.
create function distribute_by_user(name text) returns void language plpgsql as $$
begin
    if to_regclass('pg_catalog.pg_dist_partition') is not null then
        if exists (select 1 from pg_dist_partition where logicalrelid = 'data_versions'::regclass)
            and not exists (select 1 from pg_dist_partition where logicalrelid = name::regclass)
        then
            perform create_distributed_table(name::regclass, 'user_id', colocate_with => 'data_versions');
        end if;
    end if;
end
$$;

-- What background work sees of distributed tables for everybody, instead of views: on workers a view has the rights
-- of who asks, a function those of the tables' owner.
create function all_old_removals(before timestamptz) returns table (user_id uuid)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
    return query select r.user_id from removed_transactions r where r.removed_at < before order by r.removed_at limit 1;
end
$$;

create function all_old_edits(before timestamptz) returns table (user_id uuid, id uuid)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
    return query select e.user_id, e.id from transaction_edits e where e.has_rows and e.made_at <= before
        order by e.made_at limit 1;
end
$$;

create function delete_all_old_answers(before timestamptz) returns bigint
language plpgsql security definer set search_path = pg_catalog, public as $$
declare
    deleted bigint;
begin
    delete from analysis_results where made_at < before;
    get diagnostics deleted = row_count;
    return deleted;
end
$$;

-- Foreign keys to transactions are checked by user, product and id. As long as nobody has analysed the table, the planner
-- takes any index that begins with the user, and each check of a large first fetch reads all transactions of the user.
-- So the first large fetch analyses the table, with the rows that it has just written.
create function analyze_new_transactions() returns void
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
    if not exists (select 1 from pg_stats where schemaname = 'public' and tablename = 'transactions') then
        analyze (skip_locked) transactions;
    end if;
end
$$;

-- Where statistics are missing all the same, as on a new shard, the youngest of several indexes that look equally good is
-- taken: that is to be the primary key. Tables with rows have statistics.
do $$
begin
    if not exists (select 1 from transactions) then
        alter table transaction_tags drop constraint transaction_tags_user_id_product_id_transaction_id_fkey;
        alter table transaction_edit_rows drop constraint transaction_edit_rows_user_id_product_id_transaction_id_fkey;
        alter table transactions drop constraint transactions_pkey;
        alter table transactions add primary key (user_id, product_id, id);
        alter table transaction_tags add foreign key (user_id, product_id, transaction_id)
            references transactions on delete cascade;
        alter table transaction_edit_rows add foreign key (user_id, product_id, transaction_id)
            references transactions on delete cascade;
    end if;
end
$$;
