"""Documents for supervisors: the register of information, and drafts of reports on incidents."""
