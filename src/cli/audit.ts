import { Command } from 'commander';
import { type AuditFilters, type AuditRow, countAudit, findAudit } from '../audit/audit.queries.ts';
import { count, instant, nonEmpty } from './options.ts';
import { print, printJson } from './output.ts';
import { withDatabase } from './store.ts';

const DEFAULT_LIMIT = 50;

interface ListOptions {
  who?: string;
  action?: string;
  object?: string;
  since?: string;
  until?: string;
  limit: number;
  json?: boolean;
}

export function auditCommand(): Command {
  const audit = new Command('audit').description('the audit log: who changed what');
  audit
    .command('list')
    .description('list entries, the latest first')
    .option('--who <text>', 'part of an e-mail address, or cli:name', nonEmpty)
    .option('--action <action>', 'an action such as feed.change, or its first part: feed', nonEmpty)
    .option('--object <id>', 'id of what was changed', nonEmpty)
    .option('--since <time>', 'from this time on', instant)
    .option('--until <time>', 'before this time', instant)
    .option('--limit <count>', 'number of entries', count, DEFAULT_LIMIT)
    .option('--json', 'print a JSON array')
    .action(list);
  return audit;
}

async function list({ object, limit, json, ...others }: ListOptions): Promise<void> {
  const filters: AuditFilters = { ...others, ...(object !== undefined && { objectId: object }) };
  const { entries, total } = await withDatabase(async ({ db }) => ({
    entries: await findAudit(db, filters, { limit }),
    total: await countAudit(db, filters),
  }));
  if (json) return printJson(entries);
  if (total === 0) return print('There are no matching entries.');
  for (const entry of entries) for (const line of entryLines(entry)) print(line);
  if (entries.length < total)
    print(`${entries.length} of ${total} entries; --limit sets how many are shown.`);
}

function entryLines(entry: AuditRow): string[] {
  const { at, who, address, action, objectKind, objectId, before, after, reason } = entry;
  const lines = [
    `${at.toISOString()}  ${action}  ${objectKind} ${objectId}`,
    `  ${who}${address === null ? '' : ` from ${address}`}${reason === null ? '' : ` · ${reason}`}`,
  ];
  if (before !== null) lines.push(`  before: ${JSON.stringify(before)}`);
  if (after !== null) lines.push(`  after: ${JSON.stringify(after)}`);
  return lines;
}
