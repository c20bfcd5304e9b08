import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshDatabase, hasPostgres } from '../support/postgres-nodes.ts';
import { AT_FIRST, DOMAINS, openRecipe, type Recipe } from './recipe.ts';

// n8n takes minutes to install, so npm test leaves it out: N8N=…/bin/n8n N8N_NODE=…/node npx vitest run test/consumers/n8n

const { N8N, N8N_NODE = process.execPath } = process.env;

describe.skipIf(N8N === undefined || !hasPostgres)(
  'the workflow of docs/integrations/n8n.md, executed by n8n',
  () => {
    let recipe: Recipe;
    let database: Awaited<ReturnType<typeof freshDatabase>>;
    beforeEach(async () => {
      recipe = await openRecipe('n8n', DOMAINS);
      database = await freshDatabase();
    });
    afterEach(async () => {
      await recipe.close();
      await database.drop();
    });

    it('goes on with what is listed, and with nothing else', async () => {
      const credential = {
        id: 'tipline',
        name: 'Tipline',
        type: 'httpBearerAuth',
        data: { token: recipe.key },
      };
      recipe.write('credentials.json', JSON.stringify([credential]));
      const workflow = recipe.fragment(/^\{/);
      const roles = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];
      const workflows = roles.map((role) => ({
        ...JSON.parse(workflow.replace('listed.example', DOMAINS[role])),
        id: `lookup-${role}`,
      }));
      recipe.write('workflows.json', JSON.stringify(workflows));
      // The driver of its own database is compiled by an install script.
      const { hostname, port, username, pathname } = new URL(database.url);
      const settings = Object.entries({
        NODE_ENV: 'production',
        HOME: recipe.root,
        N8N_DIAGNOSTICS_ENABLED: false,
        N8N_LOG_LEVEL: 'info',
        DB_TYPE: 'postgresdb',
        DB_POSTGRESDB_HOST: hostname,
        DB_POSTGRESDB_PORT: port,
        DB_POSTGRESDB_USER: username,
        DB_POSTGRESDB_DATABASE: pathname.slice(1),
      }).map(([name, value]) => `${name}=${value}`);
      const n8n = (command: string) =>
        recipe.shell(`unset VITEST JEST_WORKER_ID; ${settings.join(' ')} ${N8N_NODE} ${N8N} ${command}`);
      await n8n('import:credentials --input=credentials.json');
      await n8n('import:workflow --input=workflows.json');
      const known = [];
      for (const role of roles) {
        // n8n ends before a pipe has its output.
        await n8n(`execute --id=lookup-${role} --rawOutput > output`);
        const output = readFileSync(join(recipe.root, 'output'), 'utf8');
        // Its log is before and after.
        const result = output.slice(output.indexOf('\n{\n'), output.lastIndexOf('\n}') + 2);
        const { data } = JSON.parse(result);
        const items = data.resultData.runData.Known?.[0]?.data?.main?.[0] ?? [];
        known.push([role, items.length > 0] as const);
      }
      expect(Object.fromEntries(known)).toEqual(AT_FIRST);
    });
  },
);
