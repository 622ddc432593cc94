-- Tables that are read from their oldest end, in the order of a time: what was taken from there stays in the index until
-- a vacuum, and every look passes it. By default a fifth of the table may lie there; with these settings a hundredth.
-- What was measured: docs/operating/scaling.md. Nobody is locked out by these statements.

alter table accesses set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
alter table fetches set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
alter table unattended_calls set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
alter table pgqueuer_log set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
