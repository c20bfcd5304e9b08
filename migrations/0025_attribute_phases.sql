-- Of a rule in STIX: the phases of attacks that it detects, as [{"chain": …, "phase": …}].
alter table attribute add column kill_chain_phases jsonb;
update entity_source set columns = '{"kill_chain_phases": null}'::jsonb || columns, parts = (
  select jsonb_agg(jsonb_set(part, '{columns}', '{"kill_chain_phases": null}'::jsonb || (part -> 'columns')) order by place)
  from jsonb_array_elements(parts) with ordinality as each (part, place))
where entity_kind::text = 'attribute';
