import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { snortFormat } from '../../src/formats/snort.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { exportIndicator, GOLDEN, HOSTILE, written, writtenFiles } from './input.ts';
import { captureFile } from './pcap.ts';
import { type Attempt, attemptsOf, clientOf } from './rule-traffic.ts';

/** The configuration that Snort 3 ships, `snort.lua`; Debian has no package of Snort 3, so this is run by hand. */
const CONFIGURATION = process.env.SNORT_LUA ?? '';
/** More options, such as `--daq-dir DIRECTORY`. */
const OPTIONS = (process.env.SNORT_OPTIONS ?? '').split(' ').filter(Boolean);
const FIRST_PORT = 20_000;

describe.skipIf(CONFIGURATION === '')('Snort rules loaded by Snort', () => {
  let attempts: Attempt[];
  /** How often each rule alerted on each attempt, which is told by the port of its client. */
  const alerts = new Map<string, number>();

  beforeAll(async () => {
    const directory = temporaryDirectory();
    const shared = ['co.uk', 'duckdns.org'].map((name, i) => exportIndicator(900 + i, 'DOMAIN', name));
    const rows = [...GOLDEN, ...shared, ...HOSTILE];
    const values = new Set(rows.map(({ value }) => value));
    attempts = rows
      .filter(({ forDetection }) => forDetection)
      .flatMap((row) => attemptsOf(row, (address) => values.has(address)));
    const [rules, capture] = ['tipline.rules', 'traffic.pcap'].map((name) => join(directory, name)) as [
      string,
      string,
    ];
    writeFileSync(rules, await written(snortFormat(), rows));
    writeFileSync(
      capture,
      captureFile(
        attempts.flatMap(({ server, serverPort, frames }, index) =>
          frames({ client: clientOf(server), clientPort: FIRST_PORT + index, server, serverPort }),
        ),
      ),
    );
    const report = "alert_json = { file = true, fields = 'sid src_port dst_port' }";
    const output = ['-A', 'alert_json', '-l', directory, '--lua', report, '-q'];
    execFileSync('snort', [
      '-c',
      CONFIGURATION,
      '-R',
      rules,
      '-r',
      capture,
      '-k',
      'none',
      ...output,
      ...OPTIONS,
    ]);
    for (const line of readFileSync(join(directory, 'alert_json.txt'), 'utf8').trim().split('\n')) {
      const { sid, src_port, dst_port }: Record<string, number> = JSON.parse(line);
      // The rules of a block of addresses have four sids.
      const first = Number(sid) < 4_000_000_000 ? Number(sid) : Number(sid) - (Number(sid) % 4);
      const key = `${Math.max(Number(src_port), Number(dst_port)) - FIRST_PORT} ${first}`;
      alerts.set(key, (alerts.get(key) ?? 0) + 1);
    }
  });

  it('alert once on matching traffic, and only on that', () => {
    const wrong = attempts.filter(
      ({ sid, fires }, index) => (alerts.get(`${index} ${sid}`) ?? 0) !== Number(fires),
    );
    expect(
      wrong.map(({ what, sid, fires }) => `${sid} ${fires ? 'must alert once' : 'must be silent'}: ${what}`),
    ).toEqual([]);
  });
});

describe.skipIf(CONFIGURATION === '')('an archive with a block list, loaded by Snort', () => {
  it('alerts on its addresses, and on no other', async () => {
    const directory = temporaryDirectory();
    const rows = GOLDEN.filter(({ type }) => type === 'IPV4' || type === 'IPV6');
    const values = new Set(rows.map(({ value }) => value));
    for (const [name, text] of await writtenFiles(snortFormat({ archive: 'reputation' }), rows))
      writeFileSync(join(directory, name), text);
    const attempts = rows.flatMap((row) => attemptsOf(row, (address) => values.has(address)));
    const capture = join(directory, 'traffic.pcap');
    writeFileSync(
      capture,
      captureFile(
        attempts.flatMap(({ server, serverPort, frames }, index) =>
          frames({ client: clientOf(server), clientPort: FIRST_PORT + index, server, serverPort }),
        ),
      ),
    );
    const report = "alert_json = { file = true, fields = 'gid sid src_port dst_port' }";
    const configuration = readFileSync(join(directory, 'tipline.lua'), 'utf8').replace(/^--.*\n/, '');
    const lua = `${configuration.replace("'tipline", `'${directory}/tipline`)} ${report}`;
    const given = ['-c', CONFIGURATION, '-R', join(directory, 'tipline.rules'), '-r', capture, '-k', 'none'];
    const output = ['-A', 'alert_json', '-l', directory, '--lua', lua, '-q'];
    execFileSync('snort', [...given, ...output, ...OPTIONS]);
    const fired = new Set<number>();
    for (const line of readFileSync(join(directory, 'alert_json.txt'), 'utf8').trim().split('\n')) {
      const { gid, src_port, dst_port }: Record<string, number> = JSON.parse(line);
      if (gid === 136) fired.add(Math.max(Number(src_port), Number(dst_port)) - FIRST_PORT);
    }
    const wrong = attempts.filter(({ fires }, index) => fired.has(index) !== fires);
    expect(wrong.map(({ what, fires }) => `${fires ? 'silent' : 'fired'}: ${what}`)).toEqual([]);
  });
});
