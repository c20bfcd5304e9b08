import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { publicAddressOf, readConfig } from '../config/config.ts';
import { exportRequest } from '../exports/export-request.ts';
import { openSnapshot, type Snapshot } from '../exports/snapshot.ts';
import { FORMAT_NAMES, FORMATS, type FormatName } from '../formats/catalogue.ts';
import {
  type ExportFormat,
  LIMIT_ORDERS,
  type LimitOrder,
  MISP_GROUPS,
  type MispGroup,
  STYLES,
  type Style,
} from '../formats/format.ts';
import { addCounts, Skipped } from '../formats/skipped.ts';
import { ApiError } from '../http/errors.ts';
import {
  INDICATOR_TYPES,
  type IndicatorType,
  SEVERITIES,
  type Severity,
  TLPS,
  type Tlp,
} from '../model/vocabulary.ts';
import {
  fileProblem,
  instant,
  lines,
  listOf,
  nonEmpty,
  oneOf,
  outputPath,
  percent,
  UsageError,
  uuid,
} from './options.ts';
import { openOutput } from './output.ts';
import { END_SIGNALS } from './server-process.ts';
import { withDatabase } from './store.ts';

interface ExportCommandOptions {
  format: FormatName;
  output?: string;
  tlpCeiling: Tlp;
  q?: string;
  type?: IndicatorType[];
  severity?: Severity;
  tag?: string;
  actor?: string;
  campaign?: string;
  minConfidence?: number;
  forDetection?: 'true' | 'false';
  since?: string;
  csvGuard: boolean;
  style?: Style;
  limit?: number;
  order?: LimitOrder;
  collapse: boolean;
  wildcards: boolean;
  context?: boolean;
  group?: MispGroup;
  ids?: 'own' | 'original';
}

export function exportCommand(): Command {
  const formats = FORMAT_NAMES.map((name) => `${name} (${FORMATS[name].label})`).join(', ');
  return new Command('export')
    .description('export indicators in a format')
    .addOption(
      new Option('--format <format>', `export format: ${formats}`)
        .choices(FORMAT_NAMES)
        .makeOptionMandatory(),
    )
    .option(
      '-o, --output <file>',
      'output file (default: standard output); created when it is complete',
      outputPath,
    )
    .option('--tlp-ceiling <tlp>', `highest TLP to export (${TLPS.join(', ')})`, oneOf(TLPS), 'RED')
    .option('--q <text>', 'substring of the normalized value', nonEmpty)
    .option(
      '--type <types>',
      `types, comma-separated, repeatable (${INDICATOR_TYPES.join(', ')})`,
      listOf(INDICATOR_TYPES),
    )
    .option('--severity <severity>', SEVERITIES.join(', '), oneOf(SEVERITIES))
    .option('--tag <tag>', 'exact tag', nonEmpty)
    .option('--actor <id>', 'linked to this actor', uuid)
    .option('--campaign <id>', 'linked to this campaign', uuid)
    .option('--min-confidence <percent>', 'minimum confidence', percent)
    .addOption(
      new Option('--for-detection <boolean>', 'true: for rules and block lists; false: context only').choices(
        ['true', 'false'],
      ),
    )
    .option('--since <time>', 'last seen at or after this time, ISO 8601', instant)
    .option('--no-csv-guard', 'csv: do not escape spreadsheet formulas')
    .addOption(
      new Option(
        '--style <style>',
        'txt: product that loads the list; suricata, snort: archive of rules with lists',
      ).choices(STYLES),
    )
    .option('--limit <count>', 'maximum number of indicators, and of lines of a list', lines)
    .addOption(new Option('--order <order>', 'with --limit: order (confidence)').choices(LIMIT_ORDERS))
    .option('--no-collapse', 'txt: do not merge adjacent addresses into networks')
    .option('--no-wildcards', 'txt, domains for paloalto or fortinet: no lines with *. in front')
    .option('--context', 'stix, misp: with actors, campaigns, malware and techniques; stix: and reports')
    .addOption(new Option('--group <group>', 'misp: an event for each of these').choices(MISP_GROUPS))
    .addOption(
      new Option('--ids <ids>', 'stix, misp: ids of Tipline, or of the sources where possible').choices([
        'own',
        'original',
      ]),
    )
    .action(runExport);
}

async function runExport(options: ExportCommandOptions, command: Command): Promise<void> {
  const filters = {
    ...(options.q !== undefined && { q: options.q }),
    ...(options.type && { types: options.type }),
    ...(options.severity && { severity: options.severity }),
    ...(options.tag !== undefined && { tag: options.tag }),
    ...(options.actor && { actorId: options.actor }),
    ...(options.campaign && { campaignId: options.campaign }),
    ...(options.minConfidence !== undefined && { minConfidence: options.minConfidence }),
    ...(options.forDetection !== undefined && { forDetection: options.forDetection === 'true' }),
    ...(options.since && { since: options.since }),
  };
  const given = {
    csvGuard: options.csvGuard ? undefined : ('off' as const),
    style: options.style,
    limit: options.limit,
    order: options.order,
    collapse: options.collapse ? undefined : ('off' as const),
    wildcards: options.wildcards ? undefined : ('off' as const),
    include: options.context ? ('context' as const) : undefined,
    group: options.group,
    ids: options.ids,
  };
  const principal = { tlpCeiling: options.tlpCeiling, now: new Date() };
  const { selection, format, variant } = validateOptions(command, () =>
    exportRequest(options.format, given, { principal, filters }, publicAddressOf(readConfig())),
  );
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('Interrupted: no file was written.'));
  for (const signal of END_SIGNALS) process.once(signal, interrupt);
  // Opened before the snapshot, which may take a while, so that a wrong path is reported at once.
  const output = await openOutput(options.output).catch((error) => asUsage(error, options.output));
  try {
    await withDatabase(async (database) => {
      const now = new Date();
      const snapshot = await openSnapshot(
        database,
        { ...selection, principal: { ...principal, now } },
        format,
        variant,
      );
      try {
        const skipped = new Skipped();
        await write(output.stream, snapshot, format, skipped, interrupted.signal)
          .then(output.commit)
          .catch((error) => asFailure(error, output.stream === process.stdout ? undefined : options.output));
        report(snapshot, skipped);
      } finally {
        await snapshot.close();
      }
    });
  } catch (error) {
    await output.discard();
    throw interrupted.signal.aborted ? interrupted.signal.reason : error;
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, interrupt);
  }
}

/** Reports an option that the format does not support as an invalid command. */
function validateOptions<T>(command: Command, request: () => T): T {
  try {
    return request();
  } catch (error) {
    if (error instanceof ApiError) command.error(`error: ${error.message}`, { exitCode: 2 });
    throw error;
  }
}

function asUsage(error: unknown, path?: string): never {
  throw new UsageError(fileProblem(error, path) ?? (error as Error).message);
}

/** Rethrows an error of the output file with its path. `watchStandardOutput` reports those of standard output. */
function asFailure(error: unknown, path?: string): never {
  const problem = path === undefined ? undefined : fileProblem(error, path);
  throw problem === undefined ? error : new Error(problem, { cause: error });
}

async function write(
  target: Writable,
  snapshot: Snapshot,
  format: ExportFormat,
  skipped: Skipped,
  signal: AbortSignal,
): Promise<void> {
  const bar = new SingleBar({
    format: 'export [{bar}] {percentage}% | {value} of {total} | {eta_formatted} left',
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
  });
  const shown = process.stderr.isTTY === true;
  async function* counted() {
    for await (const rows of snapshot.read()) {
      yield rows;
      if (shown) bar.increment(rows.length);
    }
  }
  if (shown) bar.start(Math.max(1, snapshot.rows), 0);
  try {
    await pipeline(Readable.from(format.write(counted(), snapshot.info, skipped)), target, {
      end: target !== process.stdout,
      signal,
    });
  } finally {
    if (shown) bar.stop();
  }
}

function report(snapshot: Snapshot, skipped: Skipped): void {
  const { limit, ...others } = addCounts(snapshot.skipped, skipped.counts);
  const rows = snapshot.rows - sum(Object.values(skipped.counts));
  const left = Object.entries(others).map(([reason, count]) => `${count} ${reason}`);
  const without = left.length > 0 ? ` Skipped: ${left.join(', ')}.` : '';
  const beyond = limit === undefined ? '' : ` Beyond the limit: ${limit}.`;
  const parts =
    skipped.parts > 0
      ? ` Left out of listed networks and domains, because they are whitelisted: ${skipped.parts}.`
      : '';
  process.stderr.write(`${rows} indicators written.${without}${beyond}${parts}\n`);
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
