-- Whether a hash is the fingerprint of an X.509 certificate; otherwise it is that of a file.
alter table indicator add column of_certificate boolean not null default false;
alter table indicator_source add column of_certificate boolean not null default false;
