import { RUN_BY_TESTS } from '../consumers/run-pages.ts';
import type { CodeBlock } from '../support/code-blocks.ts';
import { commandsOf, readPage } from '../support/integration-pages.ts';

/**
 * The documents whose blocks blocks.test.ts runs, in this order, and the commands before them; null: none, in the directory of
 * the first session.
 */
export const DOCUMENTS_RUN_HERE: Record<string, string | null> = {
  'docs/tutorials/first-ten-minutes.md': null,
  'README.md': null,
  'docs/tutorials/feed-a-firewall.md': null,
  'docs/tutorials/soar-playbook.md': null,
  'docs/tutorials/misp-to-suricata.md': null,
  'docs/feeds.md': 'tipline keys revoke edge-firewall; tipline feeds remove edge; FEED_KEY=$TIPLINE_KEY',
  'docs/formats.md': 'mkdir -p /etc/suricata/rules',
  'docs/importing.md': `mkdir reports
    cp "$REPOSITORY"/sample/stix/*.json reports; cp "$(ls reports/* | head -1)" bundle.json
    echo 198.51.100.7 | gzip > list.txt.gz`,
  'docs/intake.md': `mkdir -p lists/tranco10k
    echo '{"name":"List","type":"hostname","matching_attributes":["domain"],"list":["site.example"]}' > lists/tranco10k/list.json
    echo bad.example.net | tipline import - --source List --format text
    ABUSE_CH_KEY=key; VT_KEY=key`,
  'docs/operating.md': `mkdir -p /backups/ /etc/tipline
    echo 'a passphrase of the tests' > /etc/tipline/backup-passphrase
    chmod 600 /etc/tipline/backup-passphrase
    PASSWORD='a password of the tests'; ANOTHER='another password of the tests'`,
  'docs/sigma-queries.md': '',
  'docs/reference/look-ups.md': `echo 185.132.17.160 > values.txt
    echo 'It called hxxp://185[.]132[.]17[.]160/x.' > report.txt`,
  'docs/reference/changes.md': '',
  'docs/reference/errors.md': '',
  'docs/integrations/mcp.md': '',
  'docs/integrations/taxii.md': '',
};

/** Other documents: why none of their blocks is run, or none in a language. */
const NOT_RUN: Record<string, string> = {
  'docs/installing.md': 'installs software; test/package does so with commands of its own',
  'docs/integrations/crowdsec.md': 'test/consumers/crowdsec.test.ts does the same with files of its own',
  'clients/typescript/README.md sh': 'installs the client; test/api-clients does so',
  'clients/python/README.md sh': 'reads files of the user; test/api-clients runs the commands',
  'docs/releasing.md': 'makes a release; test/release/run.mjs does so in clones',
  'CONTRIBUTING.md': 'the commands of .ci/run',
  'bench/README.md': 'takes up to 50 minutes',
};

/** Documents whose other blocks a test runs. */
const RUN_BY: Record<string, string> = {
  'clients/typescript/README.md': 'test/api-clients/against-demo.test.ts',
  'clients/python/README.md': 'test/api-clients/against-demo.test.ts',
};

/** Returns the test that runs a block, or why none does; '': neither. */
export function reasonOf(block: CodeBlock): { text: string; isRun: boolean } {
  const { document, notRun } = block;
  if (notRun !== null) return { text: notRun, isRun: false };
  if (document in DOCUMENTS_RUN_HERE) return { text: 'test/documents/blocks.test.ts', isRun: true };
  if (document.startsWith('docs/reference/api/'))
    return { text: 'test/documents/blocks.test.ts', isRun: true };
  const reason = NOT_RUN[document] ?? NOT_RUN[`${document} ${block.language}`];
  if (reason !== undefined) return { text: reason, isRun: false };
  const test = RUN_BY[document];
  if (test !== undefined) return { text: test, isRun: true };
  const [, page] = /^docs\/integrations\/(.+)\.md$/.exec(document) ?? [];
  return page && page !== 'README' ? reasonOnPage(page, block) : { text: '', isRun: false };
}

/** Requests to Tipline and the commands that make feeds and keys are run for every page. */
const RUN_FOR_ALL = /^npx tipline (?:feeds|keys) |^curl\b.*tipline\.example/s;

function reasonOnPage(name: string, block: CodeBlock) {
  const test = RUN_BY_TESTS[name];
  if (test) return { text: `test/consumers/${test}.test.ts`, isRun: true };
  const commands = commandsOf({ blocks: [{ ...block, path: null }] });
  if (block.language === 'sh' && commands.every((command) => RUN_FOR_ALL.test(command)))
    return { text: 'test/consumers/soar.test.ts', isRun: true };
  return { text: readPage(name).facts.get('Checked') ?? '', isRun: false };
}
