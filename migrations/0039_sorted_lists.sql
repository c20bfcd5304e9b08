-- All indicators of a rare confidence, where the list is sorted by it. Equal keys share an entry.
create index indicator_of_confidence on indicator (confidence);
