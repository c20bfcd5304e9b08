import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { uniteNames, withAliases } from './entity-names.ts';
import type { EntityState } from './entity-state.ts';
import { compareStatements, type EntityStatement, hasOwnUuid, isWithdrawn } from './entity-statement.ts';
import { isGap, statedNames } from './merge-entities.ts';

/**
 * Resolves an entity from all its statements. Only the statements for the widest audience count, so that
 * nothing stated for a few is visible to many, and no private note hides public data. The first of them by
 * `compareStatements` decides, the next ones fill its gaps, and names unite; statements about withdrawn
 * objects come after those about others. The order of import has no influence.
 * @throws when there is no statement
 */
export function showEntity(
  entityId: string,
  statements: readonly EntityStatement[],
  rules: EntityKindRules,
): EntityState {
  const heard = inOrder(statements, rules);
  const [deciding] = heard;
  if (!deciding) throw new Error('an entity of no source');
  const { sourceId, statedAt, tlp, confidence } = deciding.state;
  const columns = { ...deciding.state.columns };
  for (const { state } of heard) {
    for (const [column, value] of Object.entries(state.columns)) {
      if (isGap(columns[column])) columns[column] = value;
    }
  }
  const names = uniteNames(heard.flatMap(({ state }) => statedNames(state)));
  return { id: entityId, sourceId, statedAt, tlp, confidence, columns: withAliases(columns, names) };
}

/** Returns the statements for the widest audience in order of precedence. */
function inOrder(statements: readonly EntityStatement[], rules: EntityKindRules): EntityStatement[] {
  const widest = TLPS.find((tlp) => statements.some(({ state }) => state.tlp === tlp));
  const heard = statements.filter(({ state }) => state.tlp === widest).sort(compareStatements(rules));
  const objects = new Set(heard.map(({ objectId }) => objectId));
  const standing = [...objects].filter((id) => {
    const said = heard.filter(({ objectId }) => objectId === id);
    // A label alone does not reinstate the object that it refers to.
    return said.some(hasOwnUuid) && !isWithdrawn(said, rules);
  });
  const isStanding = ({ objectId }: EntityStatement) => standing.includes(objectId);
  return [...heard.filter(isStanding), ...heard.filter((statement) => !isStanding(statement))];
}
