import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/formats/catalogue.ts';
import { txtFormat } from '../../src/formats/txt.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { exportIndicator, written } from './input.ts';
import { captureFile, HTTP_ANSWER, httpRequest, tcpConnection } from './pcap.ts';

const ENGINE: string = 'suricata';
const isInstalled = spawnSync(ENGINE, ['-V']).status === 0;

/** As the documentation tells an operator to write it. */
const RULE = readFileSync('docs/formats.md', 'utf8').match(/^alert .*filesha256.*$/m)?.[0] ?? '';
const ENDS = { client: '192.168.1.5', clientPort: 20_000, server: '203.0.113.80', serverPort: 80 };
const BODY = HTTP_ANSWER.toString().split('\r\n\r\n')[1] ?? '';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function alertsFor(hash: string): Promise<number> {
  const directory = temporaryDirectory();
  const list = await written(txtFormat({ list: DEFAULT_OPTIONS.list }), [exportIndicator(1, 'SHA256', hash)]);
  writeFileSync(join(directory, 'tipline.sha256'), list);
  writeFileSync(join(directory, 'tipline.rules'), `${RULE}\n`);
  writeFileSync(
    join(directory, 't.pcap'),
    captureFile(tcpConnection(ENDS, httpRequest('files.example', '/x'), HTTP_ANSWER)),
  );
  const options = [
    '-S',
    join(directory, 'tipline.rules'),
    '-l',
    directory,
    '-k',
    'none',
    '--runmode',
    'single',
  ];
  const strictly = ['--init-errors-fatal', '--strict-rule-keywords=all'];
  execFileSync(ENGINE, [...options, ...strictly, '-r', join(directory, 't.pcap')], { stdio: 'pipe' });
  return readFileSync(join(directory, 'eve.json'), 'utf8').split('"event_type":"alert"').length - 1;
}

describe.skipIf(!isInstalled)('file hash lists loaded by Suricata', () => {
  it('match by the documented rule and a txt export, and no other file', async () => {
    expect(RULE).not.toBe('');
    expect(await alertsFor(sha256(BODY))).toBe(1);
    expect(await alertsFor(sha256('another'))).toBe(0);
  });
});
