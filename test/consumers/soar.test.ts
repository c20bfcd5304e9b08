import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandsOf, productPages, readPage } from '../support/integration-pages.ts';
import {
  ADDRESSES,
  AFTER_CHANGE,
  AT_FIRST,
  DOMAINS,
  isInstalled,
  openRecipe,
  type Recipe,
  runTipline,
  type Values,
} from './recipe.ts';

// The requests of the pages in docs/integrations, sent to a running server, and what their programs make of the responses.

let recipe: Recipe | undefined;
afterEach(async () => {
  await recipe?.close();
  recipe = undefined;
});
const ROLES = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];
const FILES = {
  type: 'SHA256',
  ...Object.fromEntries(ROLES.map((role) => [role, createHash('sha256').update(role).digest('hex')])),
} as Values;

/** A request to Tipline, up to the next program that reads it: that is the product's. */
const REQUEST = /^curl\b.*tipline\.example/s;
const requestsOf = (name: string) => commandsOf(readPage(name)).filter((command) => REQUEST.test(command));

const PAGES = productPages().map(({ name }) => name);

describe('docs/integrations', () => {
  it.each(PAGES.filter((name) => requestsOf(name).length > 0))(
    '%s.md has requests that get a response',
    async (name) => {
      recipe = await openRecipe(name, DOMAINS, ADDRESSES, FILES);
      const page = await recipe.harness.get('/api/v1/indicators?q=listed.example');
      const id = page.json().data[0].id;
      for (const command of requestsOf(name)) {
        const [request = ''] = command.split(/ (?:\||&&)\n/);
        const [, output = '-'] = /-o (\S+)/.exec(request) ?? [];
        const text = await recipe.shell(`export ID=${id}; ${request.replace(/-o \S+/, '')}`);
        expect([request, output, text.length > 2]).toEqual([request, output, true]);
        expect(text).not.toContain(DOMAINS.expired);
        expect(text).not.toContain(DOMAINS.whitelisted.concat('"'));
      }
    },
  );

  it('has valid commands of tipline', async () => {
    recipe = await openRecipe('sentinel');
    const { db, get } = recipe.harness;
    for (const name of PAGES) {
      // Pages may have the same names.
      await db.deleteFrom('api_key').where('name', '<>', 'test').execute();
      await db.deleteFrom('feed').execute();
      await runTipline(recipe.harness, readPage(name));
      const feeds = commandsOf(readPage(name)).flatMap(
        (command) => /tipline feeds create (\S+)/.exec(command)?.[1] ?? [],
      );
      for (const slug of feeds)
        expect([name, slug, (await get(`/api/v1/feeds/${slug}`)).statusCode]).toEqual([name, slug, 200]);
    }
  });
});

describe('the look-up of a playbook', () => {
  it.each(['xsoar', 'shuffle', 'tines', 'n8n'])(
    'of %s.md finds what is listed and nothing else',
    async (name) => {
      recipe = await openRecipe(name, DOMAINS);
      const { shell } = recipe;
      const request = requestsOf(name).find((command) => command.includes('/lookup?')) ?? '';
      const known = async () => {
        const found = [];
        for (const role of ROLES) {
          const url = request.replace(/value=[^']*/, `value=${DOMAINS[role]}`);
          found.push([role, JSON.parse(await shell(url)).data[0].known] as const);
        }
        return Object.fromEntries(found);
      };
      expect(await known()).toEqual(AT_FIRST);
      await recipe.change(DOMAINS);
      expect(await known()).toEqual(AFTER_CHANGE);
    },
  );
});

describe.skipIf(!isInstalled('python3'))('the analyzer of cortex.md', () => {
  const PATH = '/opt/cortex-analyzers/Tipline/tipline.py';

  /** Carries out a job, as Cortex does: its folder is the argument. */
  async function reportOn(data: string, key: string) {
    if (!recipe) throw new Error('there is no recipe');
    const config = { url: recipe.address, key };
    recipe.write(
      'job/input/input.json',
      JSON.stringify({ dataType: 'domain', data, tlp: 2, pap: 2, config }),
    );
    await recipe.shell(`python3 ${PATH} ${join(recipe.root, 'job')}`);
    return JSON.parse(readFileSync(join(recipe.root, 'job/output/output.json'), 'utf8'));
  }

  it('reports the verdict of what is listed, and nothing of others', { tags: ['nightly'] }, async () => {
    recipe = await openRecipe('cortex', DOMAINS);
    for (const role of ROLES) {
      const { success, full, summary } = await reportOn(DOMAINS[role], recipe.key);
      expect([role, success, full.known]).toEqual([role, true, AT_FIRST[role]]);
      expect(summary.taxonomies[0].value).toBe(AT_FIRST[role] ? full.verdict : 'not listed');
    }
  });

  it('reports a failure as one', async () => {
    recipe = await openRecipe('cortex', DOMAINS);
    expect(await reportOn(DOMAINS.listed, 'tip_wrong')).toMatchObject({
      success: false,
      errorMessage: expect.stringContaining('401'),
    });
  });
});

describe.skipIf(!isInstalled('sqlite3'))('the database of osquery.md', () => {
  it('has what is listed, and follows changes', async () => {
    recipe = await openRecipe('osquery', ADDRESSES);
    const { root, page, run } = recipe;
    const config = page.blocks.find(({ language }) => language === 'json')?.text ?? '';
    const { query } = JSON.parse(config).auto_table_construction.tipline;
    const listed = () => {
      const { stdout } = spawnSync('sqlite3', [join(root, 'var/lib/tipline/osquery.db'), query], {
        encoding: 'utf8',
      });
      const values = stdout.split('\n').map((line) => line.split('|')[1]);
      return Object.fromEntries(ROLES.map((role) => [role, values.includes(ADDRESSES[role])]));
    };
    await run(/^update-feed\.sh/);
    expect(listed()).toEqual(AT_FIRST);
    await recipe.change(ADDRESSES);
    await run(/^update-feed\.sh/);
    expect(listed()).toEqual(AFTER_CHANGE);
  });
});

describe.skipIf(!isInstalled('jq'))('a body that jq makes', () => {
  const PAGES_WITH_JQ: [string, RegExp][] = [
    ['opensearch', /source: \{ioc_upload/],
    ['elastic', /create: \{_index/],
    ['wazuh', /resource: \{name/],
  ];

  /** Runs the block of the page that makes and sends the body. @returns what it sent to the product; null: no request */
  async function sent(
    { page, root, program, shell }: Recipe,
    pattern: RegExp,
    before = '',
  ): Promise<string | null> {
    const body = join(root, 'body');
    program(
      'curl',
      `case "$*" in *127.0.0.1*) PATH="\${PATH#*:}" exec curl "$@";; esac
      for argument; do case $argument in @*) cat "\${argument#@}" > ${body};; esac; done`,
    );
    const block =
      page.blocks.find(({ language, text }) => language === 'sh' && pattern.test(text))?.text ?? '';
    // As in a terminal, where a line that fails does not keep the next from running.
    await shell(`set +e; ${before}${block.replaceAll('/tmp/', `${root}/`)}`).catch(() => {});
    return existsSync(body) ? readFileSync(body, 'utf8') : null;
  }

  it.each(PAGES_WITH_JQ)('of %s.md has what is listed and nothing else', async (name, pattern) => {
    recipe = await openRecipe(name, ADDRESSES);
    const body = (await sent(recipe, pattern)) ?? '';
    for (const line of name === 'elastic' ? body.trim().split('\n') : [body]) JSON.parse(line);
    const found = Object.fromEntries(ROLES.map((role) => [role, body.includes(`"${ADDRESSES[role]}"`)]));
    expect(found).toEqual(AT_FIRST);
  });

  it.each(PAGES_WITH_JQ)('of %s.md is not sent if Tipline refuses the request', async (name, pattern) => {
    recipe = await openRecipe(name, ADDRESSES);
    expect(await sent(recipe, pattern, 'export TIPLINE_KEY=tip_revoked; ')).toBeNull();
  });

  it('of elastic.md has a text as the id of each document', async () => {
    recipe = await openRecipe('elastic', ADDRESSES);
    const lines = (await sent(recipe, /create: \{_index/))?.trim().split('\n') ?? [];
    const ids = lines.map((line) => JSON.parse(line).create?._id).filter((id) => id !== undefined);
    expect(ids).toHaveLength(lines.length / 2);
    for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/);
  });
});

it('the command of velociraptor.md passes the query as it is written', async () => {
  recipe = await openRecipe('velociraptor', FILES);
  recipe.program('velociraptor', 'for argument; do last=$argument; done; printf %s "$last"');
  const query = await recipe.run(/^velociraptor /);
  expect(query).toContain('spec=dict(`Generic.Detection.HashHunter`=dict(');
  expect(query).toMatch(/^SELECT hunt\(.*\) FROM scope\(\)$/s);
});

it.skipIf(!isInstalled('python3'))(
  'the plug-in of yeti.md reads texts with line breaks of Unicode',
  async () => {
    recipe = await openRecipe('yeti', DOMAINS);
    const { file, shell, write } = recipe;
    const module = (path: string, text: string) => write(`yeti/${path}`, text);
    const indicator = { type: 'DOMAIN', confidence: 90, source: 'a\u2028b\u0085c', tags: ['a\u2029b'] };
    const values = ['a.example', 'b.example'];
    module('feed.ndjson', values.map((value) => `${JSON.stringify({ ...indicator, value })}\n`).join(''));
    module('core/taskmanager.py', 'class TaskManager:\n    register_task = staticmethod(lambda _: None)\n');
    module(
      'core/schemas/observable.py',
      `class Found:
    add_context = tag = lambda *_: None
def save(value):
    print(value)
    return Found()
`,
    );
    module(
      'core/schemas/task.py',
      `class Response:
    content = open("feed.ndjson", "rb").read()
    text = content.decode()
class FeedTask:
    name = "Tipline"
    def _make_request(self, *_, **__):
        return Response()
`,
    );
    module('tipline.py', file('/opt/yeti/plugins/feeds/private/tipline.py'));
    expect(await shell('cd yeti && python3 -c "import tipline; tipline.Tipline().run()"')).toBe(
      'a.example\nb.example\n',
    );
  },
);
