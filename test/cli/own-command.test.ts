import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ownCommand } from '../../src/cli/own-command.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

describe('the command that starts this Tipline again', () => {
  it.each([
    ['tipline', 'installed for all users', '/usr/local/bin/tipline', '/home/ada'],
    ['npx tipline', 'installed in the project of the directory', '/p/node_modules/.bin/tipline', '/p'],
    ['npx tipline', 'started by a script of a checkout', `${CHECKOUT}/scripts/run.mjs`, CHECKOUT],
    ['npx tipline', 'started in a checkout', `${CHECKOUT}/dist/main.js`, CHECKOUT],
  ])('is %s where it is %s', (command, _case, script, directory) => {
    expect(ownCommand(script, directory)).toBe(command);
  });

  it.each([
    ['the cache of npx', '/home/ada/.npm/_npx/0a1b/node_modules/.bin/tipline'],
    ['a path in another directory', '/opt/tipline/dist/main.js'],
  ])('is Node.js with a path after a start from %s', (_case, script) => {
    expect(ownCommand(script, '/home/ada')).toMatch(/^node '\/.*\/main\.js'$/);
  });
});
