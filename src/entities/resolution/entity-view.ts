import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { uniteNames, withAliases } from './entity-names.ts';
import type { EntityState } from './entity-state.ts';
import { compareStatements, type EntityStatement, hasOwnUuid, isWithdrawn } from './entity-statement.ts';
import { isUnstated, statedNames } from './merge-entities.ts';

/**
 * Resolves an entity from all its statements. Only the statements for the widest audience count, so that
 * nothing stated for a few is visible to many, and no private note hides public data. The first of them by
 * `compareStatements` decides, the next ones fill its gaps, and names unite; statements about withdrawn
 * objects come after those about others. The order of import has no influence.
 * @throws when there is no statement
 */
export function resolveEntity(
  entityId: string,
  statements: readonly EntityStatement[],
  rules: EntityKindRules,
): EntityState {
  const counting = byPrecedence(statements, rules);
  const [deciding] = counting;
  if (!deciding) throw new Error('an entity of no source');
  const { sourceId, statedAt, tlp, confidence } = deciding.state;
  const columns = { ...deciding.state.columns };
  for (const { state } of counting) {
    for (const [column, value] of Object.entries(state.columns)) {
      if (isUnstated(columns[column])) columns[column] = value;
    }
  }
  const names = uniteNames(counting.flatMap(({ state }) => statedNames(state)));
  return { id: entityId, sourceId, statedAt, tlp, confidence, columns: withAliases(columns, names) };
}

/** Returns the statements for the widest audience in order of precedence. */
function byPrecedence(statements: readonly EntityStatement[], rules: EntityKindRules): EntityStatement[] {
  const widest = TLPS.find((tlp) => statements.some(({ state }) => state.tlp === tlp));
  const counting = statements.filter(({ state }) => state.tlp === widest).sort(compareStatements(rules));
  const objects = new Set(counting.map(({ objectId }) => objectId));
  const current = [...objects].filter((id) => {
    const ofObject = counting.filter(({ objectId }) => objectId === id);
    // A label alone does not reinstate the object that it refers to.
    return ofObject.some(hasOwnUuid) && !isWithdrawn(ofObject, rules);
  });
  const isCurrent = ({ objectId }: EntityStatement) => current.includes(objectId);
  return [...counting.filter(isCurrent), ...counting.filter((statement) => !isCurrent(statement))];
}
