-- An incident that was found not to be major, and then to be major again, is reported anew: earlier reports do not count.
alter table incidents add column major_again_at timestamptz;
