import { createImporter } from '../importers/create-importer.ts';
import { UnreadableInput } from '../importers/importer.ts';
import type { FeedRules } from './feed-kinds.ts';

/** The maximum of the option `days`: ThreatFox returns the last one to seven days. */
const MAX_DAYS = 7;

/** Returns the error message for the options of a source of this kind; null: they are valid. */
export function optionsProblem(
  kind: string,
  { importer, options: allowed }: Pick<FeedRules, 'importer' | 'options'>,
  options: Readonly<Record<string, unknown>>,
): string | null {
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return `${kind} has no option "${unknown}"; allowed: ${allowed.join(', ') || 'none'}`;
  const { days } = options;
  if (days !== undefined && !(Number.isInteger(days) && Number(days) >= 1 && Number(days) <= MAX_DAYS))
    return `the option "days" must be a whole number from 1 to ${MAX_DAYS}`;
  if (importer === 'json' && options.map === undefined)
    return 'json needs a path map: --options FILE with {"map": {"values": [{"path": "…"}]}}';
  try {
    createImporter(importer, options);
    return null;
  } catch (error) {
    if (error instanceof UnreadableInput) return error.message;
    throw error;
  }
}
