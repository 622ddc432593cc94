-- Advisers open a credit file by its id, without knowing the customer.
create index credit_files_by_id on credit_files (id);
