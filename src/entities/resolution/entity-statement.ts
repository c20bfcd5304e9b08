import { compareTlp } from '../../model/statement.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import type { EntityState } from './entity-state.ts';

/** What one source says of one object, and from where. */
export interface EntityStatement {
  /** As its state's `id`. */
  objectId: string;
  /** The entity that the object is part of so far; null: not known before. */
  entityId: string | null;
  sourceName: string;
  /** Sorted. The ids elsewhere by which this source means the object. */
  externalIds: string[];
  /** When we first heard it. */
  heardAt: Date;
  state: EntityState;
}

const UUID = /--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The UUID of an id such as `intrusion-set--UUID`: by this alone an id tells objects apart. */
export function uuidIn(externalId: string): string | undefined {
  return UUID.exec(externalId)?.[1];
}

/** The MISP galaxy whose cluster a source repeats; undefined: it speaks of its own object. */
export function galaxyOf({ externalIds }: EntityStatement): string | undefined {
  return externalIds
    .map((id) => /^misp-galaxy:([^=]+)=/.exec(id)?.[1])
    .find((galaxy) => galaxy !== undefined);
}

export function hasOwnUuid({ externalIds, objectId }: EntityStatement): boolean {
  return externalIds.some((id) => uuidIn(id) === objectId);
}

/** ATT&CK speaks of its own objects; who repeats them from a galaxy, or refers to them, does not. */
export function isAttacksOwn(statement: EntityStatement, rules: EntityKindRules): boolean {
  return (
    rules.attackId(statement.state.columns) !== null &&
    hasOwnUuid(statement) &&
    galaxyOf(statement) === undefined
  );
}

/**
 * Who decides, first: who speaks to more people; ATT&CK of its own objects; who has an id for the object rather than
 * a label; the more confident; the one that stated it earlier, undated ones last; then by the sources' names. Nothing
 * here tells when it was imported.
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

/** Whether an object was revoked or deprecated by who decides of it. */
export function isWithdrawn(statements: readonly EntityStatement[], rules: EntityKindRules): boolean {
  const [first] = [...statements].sort(compareStatements(rules));
  return first?.state.columns.retired === true;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
