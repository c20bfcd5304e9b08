import type { RE2JS } from 're2js';
import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readEntry } from './entry.ts';
import type { NameTables } from './name-index.ts';
import { networkTableKey } from './network-index.ts';
import { addPriority, type Priorities, type PriorityTable } from './priority.ts';
import type { Rule } from './rule.ts';
import type { Warninglist } from './warninglist.ts';

/** The rules of all lists, merged into tables: a value is looked up once, however many lists there are. */
export interface RuleTables {
  values: Readonly<Record<IndicatorType, PriorityTable>>;
  names: NameTables;
  /** Keyed by `networkTableKey`. */
  networks: Readonly<Record<'ipv4' | 'ipv6', PriorityTable>>;
  parts: Readonly<Record<'host' | 'value', PriorityTable>>;
  /** Ascending by rank. */
  expressions: { rank: number; types: number; expression: RE2JS }[];
}

/** Builds the tables of all lists. Entries that cannot be evaluated use up their rank and have no rule. */
export function fillTables(lists: readonly { list: Warninglist }[], ranks: Priorities): RuleTables {
  const tables: RuleTables = {
    values: Object.fromEntries(INDICATOR_TYPES.map((type) => [type, new Map()])) as RuleTables['values'],
    names: { itself: new Map(), 'itself and below': new Map(), below: new Map() },
    networks: { ipv4: new Map(), ipv6: new Map() },
    parts: { host: new Map(), value: new Map() },
    expressions: [],
  };
  let rank = 0;
  for (const { list } of lists) {
    for (const entry of list.entries) {
      const rules = readEntry(list.kind, entry, list.types);
      if (!('rejected' in rules)) for (const rule of rules) addRule(tables, rule, rank, ranks);
      rank++;
    }
  }
  return tables;
}

function addRule(tables: RuleTables, rule: Rule, rank: number, ranks: Priorities): void {
  switch (rule.by) {
    case 'value':
      addPriority(tables.values[rule.type], rule.value, rank, ranks);
      break;
    case 'name':
      addPriority(tables.names[rule.reach], rule.name, rank, ranks);
      break;
    case 'network': {
      const table = rule.network.digits.length === 8 ? tables.networks.ipv4 : tables.networks.ipv6;
      addPriority(table, networkTableKey(rule.network), rank, ranks);
      break;
    }
    case 'part':
      addPriority(tables.parts[rule.of], rule.part, rank, ranks);
      break;
    case 'expression':
      tables.expressions.push({ rank, types: ranks.typesOf(rank), expression: rule.expression });
  }
}
