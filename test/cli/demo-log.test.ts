import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDemoLog } from '../../src/cli/demo.ts';
import { temporaryDirectory } from '../support/directories.ts';

describe("the demo's log", () => {
  it('goes to standard error without a terminal', () => {
    expect(
      openDemoLog({ logLevel: 'info', trustedProxies: [] }, temporaryDirectory(), false).path,
    ).toBeNull();
  });

  it('goes to a file in the data directory on a terminal', () => {
    const directory = join(temporaryDirectory(), 'new');
    const { logger, path } = openDemoLog({ logLevel: 'info', trustedProxies: [] }, directory, true);
    logger.info('request completed');
    expect(path).toBe(join(directory, 'tipline.log'));
    expect(JSON.parse(readFileSync(path ?? '', 'utf8'))).toMatchObject({ msg: 'request completed' });
  });

  it('is truncated at each start', () => {
    const directory = temporaryDirectory();
    openDemoLog({ logLevel: 'info', trustedProxies: [] }, directory, true).logger.info('first start');
    openDemoLog({ logLevel: 'info', trustedProxies: [] }, directory, true).logger.info('second start');
    expect(readFileSync(join(directory, 'tipline.log'), 'utf8')).not.toContain('first start');
  });

  it('contains only messages at LOG_LEVEL or above', () => {
    const { logger, path } = openDemoLog(
      { logLevel: 'error', trustedProxies: [] },
      temporaryDirectory(),
      true,
    );
    logger.info('unwanted');
    expect(statSync(path ?? '').size).toBe(0);
  });
});
