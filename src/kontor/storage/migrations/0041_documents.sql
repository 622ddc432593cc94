-- The JSON object of a transaction as lists show it. It is current as long as `document_version` is the row's
-- `changed_version` and `document_format` that of the program which reads it; otherwise it is written anew when read.

alter table transactions add column document text;
alter table transactions add column document_version bigint;
alter table transactions add column document_format integer;
