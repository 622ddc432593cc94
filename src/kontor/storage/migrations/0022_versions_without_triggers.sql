-- needs: 21
-- Programs raise data versions by statements since version 21 (`storage/data_versions.py`).

drop trigger transactions_inserted on transactions;
drop trigger transactions_updated on transactions;
drop trigger transactions_deleted on transactions;
drop trigger tags_inserted on transaction_tags;
drop trigger tags_updated on transaction_tags;
drop trigger products_inserted on products;
drop trigger products_updated on products;
drop trigger products_deleted on products;
drop function raise_data_version();
drop function raise_data_version_of_products();
