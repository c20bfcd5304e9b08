import { compareTlp } from '../../model/statement.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import type { EntityState } from './entity-state.ts';

/** The statement of one source about one object. */
export interface EntityStatement {
  /** Equals `state.id`. */
  objectId: string;
  /** The entity that the object belongs to so far; null: a new object. */
  entityId: string | null;
  sourceName: string;
  /** The external ids under which this source refers to the object, for the audience of the statement; sorted. */
  externalIds: string[];
  /** When the statement was first imported. */
  firstImportedAt: Date;
  state: EntityState;
}

const UUID = /--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Returns the UUID in an id such as `intrusion-set--UUID`. Of an id, only the UUID distinguishes objects. */
export function uuidIn(externalId: string): string | undefined {
  return UUID.exec(externalId)?.[1];
}

/** Returns the external ids for all audiences, also for narrower ones than that of the statement. */
export function allExternalIds({ externalIds, state: { parts = [] } }: EntityStatement): string[] {
  return [...new Set([...externalIds, ...parts.flatMap((part) => part.externalIds)])];
}

/**
 * Returns the MISP galaxy whose cluster the statement repeats; undefined: it describes the source's own
 * object.
 */
export function galaxyOf({ externalIds }: EntityStatement): string | undefined {
  return externalIds
    .map((id) => /^misp-galaxy:([^=]+)=/.exec(id)?.[1])
    .find((galaxy) => galaxy !== undefined);
}

export function hasOwnUuid({ externalIds, objectId }: EntityStatement): boolean {
  return externalIds.some((id) => uuidIn(id) === objectId);
}

/**
 * Returns whether a statement is ATT&CK's about an object of its own. Statements of sources that repeat such
 * an object from a galaxy, or only refer to it, are not.
 */
export function isAttacksOwn(statement: EntityStatement, rules: EntityKindRules): boolean {
  return (
    rules.attackId(statement.state.columns) !== null &&
    hasOwnUuid(statement) &&
    galaxyOf(statement) === undefined
  );
}

/**
 * Returns a comparator that orders statements by precedence: the wider audience; ATT&CK on its own objects; a
 * source with an id for the object before one with a label only; the higher confidence; the earlier
 * `statedAt`, undated last; the source's name; the object's id. The time of import has no influence.
 */
export function compareStatements(rules: EntityKindRules) {
  const rank = (statement: EntityStatement) =>
    isAttacksOwn(statement, rules) ? 0 : hasOwnUuid(statement) ? 1 : 2;
  const stated = ({ state }: EntityStatement) => state.statedAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
  return (a: EntityStatement, b: EntityStatement): number =>
    compareTlp(a.state.tlp, b.state.tlp) ||
    rank(a) - rank(b) ||
    b.state.confidence - a.state.confidence ||
    stated(a) - stated(b) ||
    compareText(a.sourceName, b.sourceName) ||
    compareText(a.objectId, b.objectId);
}

/** Returns whether the statement with the highest precedence revoked or deprecated the object. */
export function isWithdrawn(statements: readonly EntityStatement[], rules: EntityKindRules): boolean {
  const [first] = [...statements].sort(compareStatements(rules));
  return first?.state.columns.retired === true;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
