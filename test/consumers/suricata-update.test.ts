import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { captureFile, HTTP_ANSWER, httpRequest, tcpConnection } from '../formats/pcap.ts';
import { AFTER_CHANGE, AT_FIRST, DOMAINS, isInstalled, openRecipe, type Recipe } from './recipe.ts';

const ROLES = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];

describe.skipIf(!isInstalled('suricata-update') || !isInstalled('suricata'))(
  'suricata-update, as its page in docs/integrations says',
  () => {
    let recipe: Recipe;
    beforeEach(async () => {
      recipe = await openRecipe('suricata', DOMAINS);
      const { root } = recipe;
      // Its files in the directory of the test. It runs Suricata on the new rules.
      const options = `-D ${root} --no-reload --suricata /usr/bin/suricata --suricata-conf /etc/suricata/suricata.yaml --data-dir ${root}`;
      recipe.program(
        'suricata-update',
        `case $1 in add-source) exec /usr/bin/suricata-update "$@" -D ${root} ;; *) exec /usr/bin/suricata-update ${options} "$@" ;; esac`,
      );
      const connections = ROLES.flatMap((role, index) =>
        tcpConnection(
          { client: '192.168.1.5', clientPort: 20_000 + index, server: '203.0.113.80', serverPort: 80 },
          httpRequest(DOMAINS[role], '/x'),
          HTTP_ANSWER,
        ),
      );
      writeFileSync(join(root, 'traffic.pcap'), captureFile(connections));
    });
    afterEach(() => recipe.close());

    async function alerts() {
      await recipe.shell(
        'rm -f eve.json; suricata -S rules/suricata.rules -l . -k none --runmode single -r traffic.pcap >&2',
      );
      const alerted = readFileSync(join(recipe.root, 'eve.json'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"event_type":"alert"'))
        .map((line) => JSON.parse(line).http?.hostname);
      return Object.fromEntries(ROLES.map((role) => [role, alerted.includes(DOMAINS[role])]));
    }

    it('fetches rules that alert on what is listed and nothing else, and follows changes', {
      tags: ['nightly'],
    }, async () => {
      await recipe.run(/^suricata-update/);
      expect(await alerts()).toEqual(AT_FIRST);
      await recipe.change(DOMAINS);
      // It downloads a source every 15 minutes.
      await recipe.shell("touch -d '1 hour ago' update/cache/*");
      await recipe.run(/^suricata-update$/);
      expect(await alerts()).toEqual(AFTER_CHANGE);
    });
  },
);
