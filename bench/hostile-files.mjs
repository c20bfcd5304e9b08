import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const id = (kind, n) => `${kind}--00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const TIMESTAMPS = { created: '2026-01-01T00:00:00.000Z', modified: '2026-01-01T00:00:00.000Z' };
const object = (type, n, fields) => ({
  type,
  spec_version: '2.1',
  id: id(type, n),
  ...TIMESTAMPS,
  ...fields,
});
const bundle = (...objects) => JSON.stringify({ type: 'bundle', id: id('bundle', 1), objects });
const lines = (count, prefix) =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}.example-bench.net\n`).join('');
const indicator = (n, values) =>
  object('indicator', n, {
    pattern_type: 'stix',
    pattern: `[${Array.from({ length: values }, (_, i) => `domain-name:value = 'p${n}-${i}.example-bench.net'`).join(' OR ')}]`,
    valid_from: TIMESTAMPS.created,
  });
const malware = (n) => object('malware', n, { name: `Bench malware ${n}`, is_family: true });

/** Files that are expensive to parse or to import for their size. */
const FILES = {
  'lines-20000.txt': () => lines(20_000, 'a'),
  'lines-200000.txt': () => lines(200_000, 'b'),
  'doubled-quotes.csv': () => `ioc,tags\nbad.example-bench.net,"${'""'.repeat(300_000)}"\n`,
  'doubled-quotes-large.csv': () =>
    `ioc,tags\n${`bad.example-bench.net,"${'""'.repeat(400_000)}"\n`.repeat(20)}`,
  'delimiters.csv': () => `ioc,tags\n${','.repeat(8_000_000)}\n`,
  'pattern-50000.json': () => bundle(indicator(1, 50_000)),
  'aliases-50000.json': () =>
    bundle(
      object('intrusion-set', 1, {
        name: 'Bench group',
        aliases: Array.from({ length: 50_000 }, (_, i) => `Bench alias ${i}`),
      }),
    ),
  'relationships-2000.json': () =>
    bundle(
      indicator(2, 20_000),
      ...Array.from({ length: 2_000 }, (_, i) => malware(i)),
      ...Array.from({ length: 2_000 }, (_, i) =>
        object('relationship', i, {
          relationship_type: 'indicates',
          source_ref: id('indicator', 2),
          target_ref: id('malware', i),
        }),
      ),
    ),
};

/** Writes the files to a directory. @returns their names and paths */
export function hostileFiles(directory) {
  return Object.entries(FILES).map(([name, content]) => {
    const path = join(directory, name);
    writeFileSync(path, content());
    return { name, path };
  });
}
