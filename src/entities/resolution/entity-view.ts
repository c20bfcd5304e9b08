import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { uniteNames, withAliases } from './entity-names.ts';
import type { EntityState } from './entity-state.ts';
import { compareStatements, type EntityStatement, hasOwnUuid, isWithdrawn } from './entity-statement.ts';
import { isGap, statedNames } from './merge-entities.ts';

/**
 * What is shown of an entity, from all that is said of it: the statements for the widest audience alone, so that
 * nothing said to few shows among what many see, and no private note hides what is public. Of these the first by
 * `compareStatements` decides, its gaps are filled from the next, and names unite; what is said of an object that was
 * withdrawn comes after what is said of one that was not. Whatever the order in which they came.
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

/** Those for the widest audience, who decides first. */
function inOrder(statements: readonly EntityStatement[], rules: EntityKindRules): EntityStatement[] {
  const widest = TLPS.find((tlp) => statements.some(({ state }) => state.tlp === tlp));
  const heard = statements.filter(({ state }) => state.tlp === widest).sort(compareStatements(rules));
  const objects = new Set(heard.map(({ objectId }) => objectId));
  const standing = [...objects].filter((id) => {
    const said = heard.filter(({ objectId }) => objectId === id);
    // A mere label does not bring back what it stands for.
    return said.some(hasOwnUuid) && !isWithdrawn(said, rules);
  });
  const isStanding = ({ objectId }: EntityStatement) => standing.includes(objectId);
  return [...heard.filter(isStanding), ...heard.filter((statement) => !isStanding(statement))];
}
