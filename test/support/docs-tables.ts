import { readFileSync } from 'node:fs';
import { isMap, parseDocument, type Scalar, type YAMLMap } from 'yaml';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import { QUERYABLE_PROVIDERS } from '../../src/enrichment/providers/catalogue.ts';
import { PRESETS, type Preset } from '../../src/feeds/presets.ts';
import { FORMATS } from '../../src/formats/catalogue.ts';
import type { FormatEntry } from '../../src/formats/format.ts';
import { ERRORS } from '../../src/http/errors.ts';
import { IMPORTERS } from '../../src/importers/recognize.ts';
import { convertRule, QUERY_LANGUAGES, type QueryLanguage } from '../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../src/sigma/conversion/unconvertible.ts';
import { ruledTechniques, rulesOf } from '../../src/sigma/technique-rules.ts';
import { FEED_KINDS, feedRulesOf } from '../../src/sources/feed-kinds.ts';

// The tables of the documentation that follow from the code.

const CHART = new URL('../../packaging/helm/tipline/', import.meta.url);

/** A table of Markdown. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n');
}

const code = (text: string) => `\`${text}\``;

export function settingsTable(): string {
  const settings: Setting[] = Object.values(SETTINGS);
  return table(
    ['setting', 'default', 'meaning'],
    settings.map(({ name, meaning, example, without = 'none', default: text }) => [
      code(name),
      text ? code(text) : without,
      meaning + (example ? `; e.g. ${code(example)}` : ''),
    ]),
  );
}

/** `.env.example`: every setting, each commented out. */
export function settingsFile(): string {
  const settings: Setting[] = Object.values(SETTINGS);
  const blocks = settings.map(({ name, meaning, default: text, without = 'none', example }) => {
    const about = `# ${meaning.replaceAll('`', '')} (${text || without})`;
    return `${about}\n#${name}=${text || example || ''}\n`;
  });
  const head = '# Settings of Tipline. Copy this file to .env and remove the # before those to change.\n';
  return [head, ...blocks].join('\n');
}

export function formatsTable(formats: Record<string, FormatEntry> = FORMATS): string {
  return table(
    ['`format`', 'name', 'for', 'options'],
    [
      ['`json`', 'JSON', 'scripts: one page of the list', '–'],
      ...Object.entries(formats).map(([name, { label, purpose, options }]) => [
        code(name),
        label,
        purpose,
        options.map(code).join(', ') || '–',
      ]),
    ],
  );
}

export function errorsTable(): string {
  return table(
    ['code', 'status', 'message'],
    Object.entries(ERRORS)
      .sort(([, [a]], [, [b]]) => a - b)
      .map(([name, [status, message]]) => [code(name), String(status), message.replaceAll('<', '&lt;')]),
  );
}

export function importersTable(): string {
  return table(
    ['`--format`', 'name'],
    IMPORTERS.map(({ name, label }) => [code(name), label]),
  );
}

export function feedKindsTable(): string {
  return table(
    ['kind', 'source', 'address', 'key', 'options'],
    FEED_KINDS.map((kind) => {
      const rules = feedRulesOf(kind);
      const key = rules?.keyHeader && `${code(rules.keyHeader)}${rules.keyNeeded ? '' : ', optional'}`;
      return [
        code(kind),
        rules?.title ?? '',
        rules?.address ? 'built in' : '`--address`',
        key || '–',
        rules?.options.map(code).join(', ') || '–',
      ];
    }),
  );
}

export function providersTable(): string {
  const quota = (perMinute: number | null, perDay: number | null, perSecond?: number) =>
    [
      perSecond && `${perSecond} a second`,
      perMinute && `${perMinute} a minute`,
      perDay && `${perDay.toLocaleString('en')} a day`,
    ]
      .filter(Boolean)
      .join(', ') || '–';
  return table(
    ['provider', 'types', 'free plan, as the default'],
    QUERYABLE_PROVIDERS.map(({ name, accepts, quota: { perMinute, perDay }, perSecond }) => [
      code(name),
      accepts.join(' '),
      quota(perMinute, perDay, perSecond),
    ]),
  );
}

export function presetsTable(): string {
  return table(
    ['`--preset`', 'consumer', 'as', 'format and query', 'documented limit'],
    Object.entries<Preset>(PRESETS).map(([name, { label, purpose, format, query, limit }]) => [
      code(name),
      label,
      purpose,
      code(query === '' ? format : `${format}?${query}`),
      limit?.text ?? '–',
    ]),
  );
}

/** The documents that state the limits of presets. */
export function limitSourcesTable(): string {
  const sources = new Map<string, string[]>();
  for (const [name, { limit }] of Object.entries<Preset>(PRESETS))
    if (limit) sources.set(limit.source, [...(sources.get(limit.source) ?? []), name]);
  return table(
    ['limit of', 'document'],
    [...sources].map(([source, names]) => [names.map(code).join(', '), source]),
  );
}

/** The techniques with rules, and the log sources that each technique's rules read. */
export function techniquesTable(): string {
  return table(
    ['technique', 'rules', 'log sources'],
    ruledTechniques().map((id) => {
      const rules = rulesOf(id);
      const sources = rules.map(({ logsource: { product, category, service } }) =>
        [product, category ?? service].filter((name) => name !== undefined).join('/'),
      );
      return [
        `[${id}](https://attack.mitre.org/techniques/${id.replace('.', '/')}/)`,
        String(rules.length),
        [...new Set(sources)].sort().join(', '),
      ];
    }),
  );
}

/** How many technique rules there are in each language of queries. */
export function rulesAsQueriesTable(): string {
  return table(
    ['language', 'technique rules', 'left out, by reason'],
    QUERY_LANGUAGES.map((language) => {
      const reasons = ruledTechniques()
        .flatMap(rulesOf)
        .map(({ logsource, content: { detection } }) => reasonOf({ logsource, detection }, language));
      const counts = new Map<string, number>();
      for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      const converted = counts.get('') ?? 0;
      counts.delete('');
      const leftOut = [...counts].sort().map(([reason, count]) => `${reason} ${count}`);
      return [code(language), String(converted), leftOut.join(', ') || 'none'];
    }),
  );
}

/** @returns '' if the rule is converted */
function reasonOf(rule: Parameters<typeof convertRule>[0], language: QueryLanguage): string {
  try {
    convertRule(rule, language);
    return '';
  } catch (error) {
    if (error instanceof Unconvertible) return error.reason;
    throw error;
  }
}

/** The values of the Helm chart: each with a comment above it, which is its description. */
export function chartValuesTable(): string {
  const rows: string[][] = [];
  const add = (map: YAMLMap<Scalar<string>>, path: string, isRoot: boolean) => {
    for (const [i, { key, value }] of map.items.entries()) {
      const name = path + key.value;
      // The comment of the first value of a map is that of the map.
      const comment = (i === 0 && !isRoot ? map.commentBefore : key.commentBefore)?.trim();
      if (comment) rows.push([code(name), code(JSON.stringify(value)), comment]);
      else if (isMap(value)) add(value as YAMLMap<Scalar<string>>, `${name}.`, false);
      else throw new Error(`${name} has no comment in values.yaml`);
    }
  };
  const document = parseDocument(readFileSync(new URL('values.yaml', CHART), 'utf8'));
  add(document.contents as YAMLMap<Scalar<string>>, '', true);
  return table(['value', 'default', 'meaning'], rows);
}
