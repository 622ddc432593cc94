-- The form in which a booking came (MT940, camt.052, XS2A …). The bank's own references are comparable within one channel
-- only. Null: stored before channels were written down.

alter table transactions add column channel text;
