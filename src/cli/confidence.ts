import { Command } from 'commander';
import type { Db } from '../db/database.ts';
import { changePin, type PinChange } from '../indicators/confidence/confidence.service.ts';
import type { PinTrigger } from '../model/confidence.ts';
import { cliActor } from './actor.ts';
import { requireIndicator, TYPE_OPTION } from './named-indicator.ts';
import { nonEmpty, percent } from './options.ts';
import { print, printJson } from './output.ts';
import { withDatabase } from './store.ts';

interface LockOptions {
  type?: string;
  reason?: string;
  json?: boolean;
}

export function confidenceCommand(): Command {
  const confidence = new Command('confidence').description(
    'pin the confidence of an indicator, and unpin it',
  );
  confidence
    .command('pin')
    .description('pin a confidence; overrides sources and providers until unpinned')
    .argument('<indicator>', 'its id or its value')
    .argument('<percent>', '0 to 100', percent)
    .addOption(TYPE_OPTION())
    .requiredOption('--reason <text>', 'reason (required), recorded in the audit log', nonEmpty)
    .option('--json', 'print one JSON object')
    .action((indicator: string, value: number, options: LockOptions) =>
      change(indicator, { kind: 'pin', confidence: value }, options),
    );
  confidence
    .command('unpin')
    .description('unpin it: computed from providers and sources again')
    .argument('<indicator>', 'its id or its value')
    .addOption(TYPE_OPTION())
    .option('--reason <text>', 'reason, recorded in the audit log', nonEmpty)
    .option('--json', 'print one JSON object')
    .action((indicator: string, options: LockOptions) => change(indicator, { kind: 'unpin' }, options));
  return confidence;
}

async function change(indicator: string, trigger: PinTrigger, { type, reason, json }: LockOptions) {
  const { id, value, result } = await withDatabase(({ db }) =>
    apply(db, indicator, type, trigger, reason ?? null),
  );
  if (json) return printJson({ id, value, ...result });
  const { before, after, changed } = result;
  if (!changed) return print(`${value}: nothing to change, ${formatPin(after)}.`);
  print(`${value}: ${formatPin(before)} → ${formatPin(after)}.`);
}

async function apply(
  db: Db,
  indicator: string,
  type: string | undefined,
  trigger: PinTrigger,
  reason: string | null,
) {
  const { id, value } = await requireIndicator(db, indicator, type);
  const result = await changePin(db, id, trigger, { ...cliActor(), reason });
  if (!result) throw new Error(`${value} is gone.`);
  return { id, value, result };
}

function formatPin({ confidence, pinned }: PinChange['after']): string {
  return pinned === null ? `confidence ${confidence}, not pinned` : `pinned at ${pinned}`;
}
