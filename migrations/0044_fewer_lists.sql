-- Lists of a type and of a severity are merged from those of each type and severity.
drop index indicator_type_list, indicator_severity_list;
