import { createReadStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { extractValues } from '../lookup/extract.ts';
import type { LookupResult } from '../lookup/lookup.schema.ts';
import { partEnd } from '../lookup/text-part.ts';
import { redirectProblem } from '../outbound/not-followed.ts';
import { retryAfter } from '../outbound/with-retry.ts';
import { VERSION } from '../version.ts';
import { percent, UsageError } from './options.ts';
import { exitWithReader, print, printJson } from './output.ts';

interface Options {
  key?: string;
  server: string;
  values?: boolean;
  minConfidence?: number;
  json?: boolean;
}

/** The exit code for scripts: at least one value is known. */
const KNOWN = 3;
/**
 * A request is sent when so much text has arrived, and no later than so long after its first line. It cannot have more than the
 * 10,000 values that a request may have.
 */
const BATCH_CHARACTERS = { ofText: 48_000, ofValues: 20_000 } as const;
const BATCH_MS = 200;
/** Requests under way. More text is read only when one of them is answered. */
const MAX_UNDER_WAY = 4;
const TRY_LATER = [429, 503];
/** Answers of a proxy instead of a server that does not answer. */
const NO_SERVER = [502, 504];
/** A server that has answered before is waited for so long: it may be restarted while a log grows. */
const OUTAGE_MS = 600_000;
/** Until the next attempt when the server states none. */
const UNSTATED_DELAY_MS = 1_000;
/** Answers of servers in between that know no method but the common ones. */
const NO_QUERY = [405, 501];
/** Values, and characters, of a URL; the default buffer of nginx for a request line is 8 kB. */
const URL_VALUES = 100;
const URL_CHARACTERS = 6_000;

export function lookupCommand(): Command {
  return (
    new Command('lookup')
      .description('list which values in files or a stream are known to a server')
      .argument('[file...]', 'logs, reports or lists; - is standard input', ['-'])
      .addOption(
        new Option('--server <url>', 'address of the server')
          .env('TIPLINE_SERVER')
          .default('http://127.0.0.1:8080'),
      )
      // Not in the help: other users of the machine can read command lines.
      .addOption(new Option('--key <key>').env('TIPLINE_KEY').hideHelp())
      .option('--values', 'each line is one value; otherwise values are found in the text')
      .addOption(
        new Option('--min-confidence <number>', 'only indicators with at least this').argParser(percent),
      )
      .option('--json', 'print a JSON object a line')
      .addHelpText(
        'after',
        `
The API key is in TIPLINE_KEY, with the scope indicators:read. Each known value is printed once.
A server that has answered before is waited for, up to ten minutes: it may be restarted.
Exit codes: 0 nothing is known; 3 something is known; 1 failure; 2 invalid command.

Examples:
  tipline lookup access.log
  tail -F /var/log/squid/access.log | tipline lookup -
  tipline lookup --values --json < values.txt
`,
      )
      .action(lookup)
  );
}

async function lookup(files: string[], options: Options): Promise<void> {
  const { key } = options;
  if (!key) throw new UsageError('TIPLINE_KEY must be set to an API key.');
  exitWithReader();
  const ask = asker(options, key);
  const printed = new Set<string>();
  const report = (results: LookupResult[]) => {
    for (const result of results) {
      if (!result.known || printed.has(`${result.type} ${result.value}`)) continue;
      printed.add(`${result.type} ${result.value}`);
      if (options.json) printJson(result);
      else print(lineOf(result));
    }
  };
  const underWay: Promise<void>[] = [];
  const batchEnd = options.values ? endOfValues : endOfText;
  for await (const text of batches(files, batchEnd)) {
    const asked = ask(text);
    // Reported as soon as it and those before are answered, also while no more text arrives.
    const reported = Promise.all([asked, underWay.at(-1)]).then(([results]) => report(results));
    // It is awaited in its turn.
    reported.catch(() => {});
    underWay.push(reported);
    if (underWay.length >= MAX_UNDER_WAY) await underWay.shift();
  }
  for (const reported of underWay) await reported;
  if (printed.size > 0) process.exitCode = KNOWN;
}

/** Such as `MALICIOUS 80  http://a.evil.example/x  parent-domain evil.example (Feed)`. */
function lineOf({ value, asked, verdict, matches }: LookupResult): string {
  const found = matches.map(({ relation, indicator }) => {
    const what = relation === 'exact' ? relation : `${relation} ${indicator.value}`;
    return `${what} (${indicator.source})`;
  });
  const confidence = Math.max(...matches.map(({ indicator }) => indicator.confidence));
  return `${verdict} ${confidence}  ${value ?? asked}  ${found.join(', ')}`;
}

/** Yields whole lines of the files, as many as a request takes or as have arrived within a moment. */
async function* batches(
  files: readonly string[],
  batchEnd: (text: string) => number,
): AsyncGenerator<string> {
  for (const file of files) {
    const stream = file === '-' ? process.stdin : createReadStream(file);
    const chunks = stream.setEncoding('utf8')[Symbol.asyncIterator]();
    let text = '';
    let next = chunks.next();
    for (;;) {
      const end = batchEnd(text);
      if (end > 0) {
        yield text.slice(0, end);
        text = text.slice(end);
        continue;
      }
      const timer = new AbortController();
      const isLate = delay(BATCH_MS, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
      const arrived = await (text.includes('\n') ? Promise.race([next, isLate]) : next);
      timer.abort();
      if (arrived === 'late') {
        const whole = text.lastIndexOf('\n') + 1;
        yield text.slice(0, whole);
        text = text.slice(whole);
      } else if (arrived.done) break;
      else {
        text += arrived.value;
        next = chunks.next();
      }
    }
    if (text.trim() !== '') yield text;
  }
}

/** Returns where the first full batch of a text ends; 0: there is none. */
const endOfText = (text: string): number =>
  text.length <= BATCH_CHARACTERS.ofText ? 0 : partEnd(text, BATCH_CHARACTERS.ofText);

/** Returns where the first full batch of lines ends, whole but for a line that is no value; 0: there is none. */
function endOfValues(text: string): number {
  const most = BATCH_CHARACTERS.ofValues;
  return text.length < most ? 0 : text.lastIndexOf('\n', most - 1) + 1 || most;
}

/** Returns a function that looks up the values of a text. */
function asker({ server, values = false, minConfidence }: Options, key: string) {
  const base = server.replace(/\/+$/, '');
  const filters = minConfidence === undefined ? '' : `&minConfidence=${minConfidence}`;
  const headers = { authorization: `Bearer ${key}`, 'user-agent': `tipline/${VERSION}` };
  let hasQuery = true;
  let hasAnswered = false;
  /** When the present outage began, in monotonic milliseconds; null: there is none. */
  let outage: number | null = null;

  /** Waits before the next attempt. @throws when the server has never answered, or not for too long */
  async function waitForRestart(problem: string): Promise<void> {
    const now = performance.now();
    if (!hasAnswered || now - (outage ?? now) > OUTAGE_MS) throw new Error(`${problem}.`);
    if (outage === null) process.stderr.write(`${problem}: trying again for ten minutes.\n`);
    outage ??= now;
    await delay(UNSTATED_DELAY_MS);
  }

  async function send(url: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const response = await fetch(url, {
        ...init,
        headers: { ...headers, ...init.headers },
        // Another address is no place for the values, and its answers say nothing of them.
        redirect: 'manual',
      }).catch((error: Error) => error);
      if (response instanceof Error) {
        const { message } = (response.cause as Error | undefined) ?? response;
        await waitForRestart(`${base} does not answer: ${message}`);
        continue;
      }
      if (hasAnswered && NO_SERVER.includes(response.status)) {
        await response.body?.cancel();
        await waitForRestart(`${base} answers ${response.status}`);
        continue;
      }
      outage = null;
      const problem = redirectProblem(base, response);
      if (problem !== null) throw new Error(problem);
      hasAnswered ||= response.ok;
      if (!TRY_LATER.includes(response.status)) return response;
      await response.body?.cancel();
      const now = new Date();
      const retryAt = retryAfter(Object.fromEntries(response.headers), undefined, now);
      await delay(retryAt ? retryAt.getTime() - now.getTime() : UNSTATED_DELAY_MS);
    }
  }

  const resultsOf = async (response: Response): Promise<LookupResult[]> => {
    const body = (await response.json().catch(() => ({}))) as { data?: LookupResult[]; error?: string };
    if (response.ok && body.data) return body.data;
    throw new Error(`${base} answers ${response.status}: ${body.error ?? 'no JSON'}`);
  };

  return async (text: string): Promise<LookupResult[]> => {
    if (text.trim() === '') return [];
    if (hasQuery) {
      const response = await send(`${base}/bulk/lookup?extract=${!values}${filters}`, {
        method: 'QUERY',
        headers: { 'content-type': 'text/plain' },
        // NUL is part of no observable, and earlier servers reject a body with it.
        body: values ? text : text.replaceAll('\0', ' '),
      });
      if (!NO_QUERY.includes(response.status)) return resultsOf(response);
      hasQuery = false;
    }
    const lines = text.split('\n').map((line) => line.trim());
    const wanted = values
      ? lines.filter((line) => line !== '' && !line.includes('\0'))
      : await extractValues(text);
    const found: LookupResult[] = [];
    for (const query of urlQueries(wanted))
      found.push(...(await resultsOf(await send(`${base}/api/v1/lookup?${query}${filters}`, {}))));
    return found;
  };
}

/** Returns query strings with these values that fit into a URL. */
function urlQueries(values: readonly string[]): string[] {
  const queries: string[] = [];
  let [query, count] = ['', 0];
  for (const value of values) {
    const parameter = `value=${encodeURIComponent(value)}`;
    if (count === URL_VALUES || (count > 0 && query.length + parameter.length >= URL_CHARACTERS)) {
      queries.push(query);
      [query, count] = ['', 0];
    }
    query = count === 0 ? parameter : `${query}&${parameter}`;
    count++;
  }
  return count === 0 ? queries : [...queries, query];
}
