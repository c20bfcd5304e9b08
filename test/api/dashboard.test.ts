import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openJobs } from '../../src/db/jobs.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { writeWebhook } from '../../src/feeds/webhooks/webhooks.queries.ts';
import { countJob, countLookup, createJobStats } from '../../src/metrics/state-metrics.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, NOW, startHarness } from '../support/harness.ts';

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const dashboard = JSON.parse(
  readFileSync(new URL('../../docs/grafana/tipline.json', import.meta.url), 'utf8'),
) as { panels: Panel[] };
const QUERIES = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr.replaceAll('$job', '.*')] as const),
);
const alerts = parse(readFileSync(new URL('../../docs/prometheus/alerts.yml', import.meta.url), 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const RULES = alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const));
/** Prometheus adds these to every sample. */
const ADDED_LABELS = ['job', 'instance'];
/** Prometheus has this series itself, for each target. */
const ADDED_SERIES = 'up';

/** What a query reads: its metrics, each with the labels of its matchers, and the labels that it groups by. */
function readsOf(query: string): { metrics: { name: string; labels: string[] }[]; groups: string[] } {
  const metrics: { name: string; labels: string[] }[] = [];
  const groups: string[] = [];
  parser.parse(query).iterate({
    enter({ name, from, to, type, node }) {
      const text = query.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      if (name === 'VectorSelector') metrics.push({ name: '', labels: [] });
      const selector = metrics.at(-1);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector' && selector) selector.name = text;
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') groups.push(text);
      else if (name === 'LabelName') selector?.labels.push(text);
    },
  });
  return { metrics, groups };
}

onEveryEngine((engine) => {
  let tipline: Harness;
  /** The labels of each series that /metrics has a sample of. */
  const series = new Map<string, Set<string>>();

  beforeAll(async () => {
    const jobStats = createJobStats();
    countJob(jobStats, 'sums', false, 0.1);
    countLookup(jobStats, 'virustotal', 'answered');
    const connectionStats = () => ({ used: 1, idle: 0, waiting: 0 });
    const readStats = () => ({ primary: 1, replica: 2, failed: 0, replicas: 1, usable: 1 });
    tipline = await startHarness(
      { open: async () => ({ ...(await engine.open()), readStats, connectionStats }) },
      { jobStats, tls: { options: {}, applyTo: () => {}, expiresAt: () => NOW } },
    );
    await tipline.loadRun([indicatorRecord('DOMAIN', 'a.example')]);
    await tipline.newKey({ name: 'soon', expiresAt: new Date(NOW.getTime() + 86_400_000) });
    const guarded = { slug: 'edge', name: 'Edge', description: '', format: 'txt', query: '' } as const;
    const by = { who: 'test', now: NOW };
    const feed = await createFeed(tipline.db, { ...guarded, tlpCeiling: 'GREEN', minEntries: 1 }, by);
    const webhook = {
      sealed: '',
      host: 'receiver.example',
      cursor: '',
      intervalSeconds: 60,
      nextAttemptAt: NOW,
    };
    await writeWebhook(tipline.db, { ...webhook, feedId: feed.id, tlpCeiling: 'GREEN' });
    await sql`update source set address = 'https://feed.example/list'`.execute(tipline.db);
    await sql`insert into provider (name) values ('virustotal')`.execute(tipline.db);
    const boss = await openJobs(tipline, [{ name: 'counted', policy: 'standard' }], () => {});
    await boss.send('counted', {});
    series.set(ADDED_SERIES, new Set());
    await tipline.get('/api/v1/indicators');
    const { body } = await tipline.get('/metrics', { key: METRICS_TOKEN });
    await sql`delete from pgboss.job`.execute(tipline.db);
    await boss.stop({ graceful: false, wait: true, close: false });
    for (const line of body.split('\n').filter((text) => text && !text.startsWith('#'))) {
      const name = line.split(/[{ ]/, 1)[0] ?? '';
      const labels = [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => String(label));
      series.set(name, new Set([...(series.get(name) ?? []), ...labels]));
    }
  });
  afterAll(() => tipline.close());

  it.each(QUERIES)('the dashboard panel %s queries series that /metrics exports: %s', (_, query) =>
    requireSeries(query),
  );

  it.each(RULES)('the alert %s reads series that /metrics exports: %s', (_, query) => requireSeries(query));

  function requireSeries(query: string): void {
    const { metrics, groups } = readsOf(query);
    const labels = new Set(ADDED_LABELS);
    for (const { name, labels: matched } of metrics) {
      expect([...series.keys()]).toContain(name);
      for (const label of series.get(name) ?? []) labels.add(label);
      for (const label of matched) expect([...ADDED_LABELS, ...(series.get(name) ?? [])]).toContain(label);
    }
    for (const group of groups) expect([...labels]).toContain(group);
  }

  it('has a panel for every application metric except four listed ones', () => {
    const read = new Set(QUERIES.flatMap(([, query]) => readsOf(query).metrics.map(({ name }) => name)));
    const unread = [...series.keys()].filter((name) => name.startsWith('tipline_') && !read.has(name));
    expect(unread.sort()).toEqual([
      'tipline_http_request_duration_seconds_sum',
      'tipline_indicators_stored',
      'tipline_key_cache_entries',
      'tipline_response_cache_entries',
    ]);
  });
});
