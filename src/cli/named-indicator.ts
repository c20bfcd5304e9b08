import { Option } from 'commander';
import type { Db } from '../db/database.ts';
import { findIdentities } from '../indicators/state/state.queries.ts';
import { detectType } from '../model/detect-type.ts';
import { indicatorId } from '../model/identity.ts';
import { normalize } from '../model/normalize.ts';
import { isUuid } from '../model/uuid.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { UsageError } from './options.ts';

export function TYPE_OPTION(): Option {
  return new Option('--type <type>', 'type of the value, if it cannot be detected').choices(INDICATOR_TYPES);
}

/**
 * Returns the indicator that an argument names by its id or by its value, defanged or not.
 * @throws when the value is invalid, or there is no such indicator
 */
export async function requireIndicator(
  db: Db,
  text: string,
  type?: string,
): Promise<{ id: string; type: IndicatorType; value: string }> {
  const id = isUuid(text) ? text.toLowerCase() : idOf(text, type as IndicatorType | undefined);
  const [found] = await findIdentities(db, [id]);
  if (!found) throw new Error(`There is no indicator ${text}.`);
  return found;
}

function idOf(text: string, type: IndicatorType | undefined): string {
  const { type: meant, normalized } = readValue(text, type);
  return indicatorId(meant, normalized);
}

/**
 * Returns the normalized form of a value, defanged or not.
 * @param type detected from the value if absent
 * @throws {UsageError} when the value is invalid, or its type cannot be detected
 */
export function readValue(text: string, type?: IndicatorType): { type: IndicatorType; normalized: string } {
  const meant = type ?? detectType(text);
  if (!meant) throw new UsageError(`The type of ${text} cannot be detected; set --type.`);
  const normal = normalize(meant, text);
  if ('rejected' in normal) throw new UsageError(`${text}: ${normal.rejected}.`);
  return normal;
}
