import { MAX_NAME_LENGTH } from '../../model/normalize-host.ts';
import type { Reach } from './name-entry.ts';
import { highestPriority, NO_MATCH, type Priorities, type PriorityTable } from './priority.ts';

export type NameTables = Readonly<Record<Reach, PriorityTable>>;

/** Returns the lowest rank of the name or of a parent domain, in lists with that type; NO_RANK for none. */
export function findName(tables: NameTables, name: string, typeBit: number, ranks: Priorities): number {
  // Looking up every parent domain takes time quadratic in the length of the name.
  if (name.length > MAX_NAME_LENGTH) return NO_MATCH;
  const andBelow = tables['itself and below'];
  let best = Math.min(
    highestPriority(tables.itself, name, typeBit, ranks),
    highestPriority(andBelow, name, typeBit, ranks),
  );
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const above = name.slice(dot + 1);
    best = Math.min(best, highestPriority(andBelow, above, typeBit, ranks));
    if (tables.below.size > 0) best = Math.min(best, highestPriority(tables.below, above, typeBit, ranks));
  }
  return best;
}
