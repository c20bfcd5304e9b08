import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { onOrOff } from '../../src/config/kinds.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { CHART, HELMS, helm, renderText } from './helm.ts';
import { EVERYTHING } from './values.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(CHART, path), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const settings: Setting[] = Object.values(SETTINGS);

/** Settings that the templates set, and those of what the chart leaves out: the embedded database and a second port. */
const OF_THE_CHART = [
  'HOST',
  'PORT',
  'WORKER_PORT',
  'TIPLINE_WORKER',
  'TIPLINE_FIRST_START_LINK',
  'TIPLINE_SHUTDOWN_DELAY_SECONDS',
  'TIPLINE_DATA_DIR',
  'TIPLINE_TLS_CERT',
  'TIPLINE_TLS_KEY',
  'TIPLINE_DISK_RESERVE_MB',
  'REDIRECT_PORT',
];
/** Addresses, which messages do not repeat, but which have no password as a rule. */
const ADDRESSES = ['TIPLINE_PUBLIC_ADDRESS', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

const isSecret = ({ name, kind }: Setting) => Boolean(kind.isSecret) && !ADDRESSES.includes(name);

/** The schema of `settings`: a text or a whole number each. YAML reads `on` as true: it must be quoted. */
const settingsSchema = Object.fromEntries(
  settings
    .filter((setting) => !isSecret(setting) && !OF_THE_CHART.includes(setting.name))
    .map(({ name, kind }) => [
      name,
      kind === onOrOff ? { enum: ['on', 'off'] } : { type: ['string', 'integer'] },
    ]),
);

/** The schema of `secretRefs`. */
const secretsSchema = Object.fromEntries(
  settings.filter(isSecret).map(({ name }) => [
    name,
    {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string', minLength: 1 }, key: { type: 'string', minLength: 1 } },
    },
  ]),
);

function pack(): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/chart.mjs'), temporaryDirectory()],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** The files of a packed chart and the digests of their contents, by path. */
function contentsOf(archive: string): [string, string][] {
  const directory = temporaryDirectory();
  expect(spawnSync('tar', ['-xzf', archive, '-C', directory]).status).toBe(0);
  return digests(directory).map(([path, digest]) => [path, digest]);
}

function digests(directory: string): [string, string][] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile())
    .sort()
    .map((path) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(directory, path)))
        .digest('hex'),
    ]);
}

describe('the files of the chart', () => {
  it('have the version of package.json', () => {
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('allow in values the settings of the code; WRITE_DOCS=1 writes them', () => {
    const schema = JSON.parse(read('values.schema.json'));
    if (process.env.WRITE_DOCS) {
      schema.properties.settings.properties = settingsSchema;
      schema.properties.secretRefs.properties = secretsSchema;
      writeFileSync(join(CHART, 'values.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
    }
    expect(schema.properties.settings).toMatchObject({
      additionalProperties: false,
      properties: settingsSchema,
    });
    expect(Object.keys(schema.properties.settings.properties)).toEqual(Object.keys(settingsSchema));
    expect(schema.properties.secretRefs.properties).toEqual(secretsSchema);
  });

  it('have a schema that allows the default values, and lists each of them', () => {
    const values = parse(read('values.yaml'));
    const schema = JSON.parse(read('values.schema.json'));
    const check = new Ajv({ strict: false }).compile(schema);
    expect([check(values), check.errors]).toEqual([true, null]);
    const { global: _, ...listed } = schema.properties;
    expect(Object.keys(listed).sort()).toEqual(Object.keys(values).sort());
  });
});

describe('scripts/chart.mjs', () => {
  it('packs the files of the chart, with the alert rules as they are in docs/', () => {
    const packed = contentsOf(pack());
    expect(packed).toEqual(digests(CHART).map(([path, digest]) => [`tipline/${path}`, digest]));
    const rules = readFileSync(join(root, 'docs/prometheus/alerts.yml'));
    expect(packed).toContainEqual([
      'tipline/files/alerts.yml',
      createHash('sha256').update(rules).digest('hex'),
    ]);
  });

  it('writes the same bytes each time', () => {
    const [first, second] = [pack(), pack()];
    expect(first).toMatch(new RegExp(`/tipline-${version}-chart\\.tgz$`));
    expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
  });

  describe.each(HELMS)('with %s', (program) => {
    it('packs what helm packs, apart from the order of Chart.yaml', { tags: ['nightly'] }, () => {
      const directory = temporaryDirectory();
      helm(program, 'package', CHART, '--destination', directory);
      const archive = join(directory, `tipline-${version}.tgz`);
      expect(existsSync(archive)).toBe(true);
      const but = ([path]: [string, string]) => path !== 'tipline/Chart.yaml';
      // Helm writes Chart.yaml anew, without its comments.
      expect(contentsOf(pack()).filter(but)).toEqual(contentsOf(archive).filter(but));
      expect(helm(program, 'show', 'chart', pack())).toBe(helm(program, 'show', 'chart', archive));
    });

    it('packs a chart that renders as the directory does', () => {
      expect(renderText(EVERYTHING, { program, chart: pack() })).toBe(renderText(EVERYTHING));
    });
  });
});
