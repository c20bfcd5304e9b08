import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryDirectory } from '../support/directories.ts';

const RULES = fileURLToPath(new URL('../../docs/prometheus/alerts.yml', import.meta.url));
const NODE = 'job="tipline", instance="a:8080"';
const REQUEST = `${NODE}, method="GET", route="/api/v1/actors"`;

/** There is a value every two minutes; after half an hour something changes. */
const [STEPS, BEFORE] = [65, 15];
const INTERVAL = '2m';
const [EARLY, LATE] = ['28m', '125m'];

// Series in the notation of Prometheus ("Unit testing for rules").
const always = (value: number) => `${value}x${STEPS}`;
const growing = (step: number) => `0+${step}x${STEPS}`;
const then = (first: number, later: number) => `${first}x${BEFORE - 1} ${later}x${STEPS - BEFORE}`;
const growingThen = (step: number, later: number) =>
  `0+${step}x${BEFORE - 1} ${step * BEFORE}+${later}x${STEPS - BEFORE}`;

/** A node where all is well. */
const HEALTHY = {
  [`up{${NODE}}`]: always(1),
  [`tipline_state_readable{${NODE}}`]: always(1),
  [`tipline_http_request_duration_seconds_count{${REQUEST}, status="200"}`]: growing(600),
  [`tipline_http_request_duration_seconds_count{${REQUEST}, status="503"}`]: always(0),
  [`tipline_http_request_duration_seconds_bucket{${REQUEST}, le="0.01"}`]: growing(600),
  [`tipline_http_request_duration_seconds_bucket{${REQUEST}, le="5"}`]: growing(600),
  [`tipline_http_request_duration_seconds_bucket{${REQUEST}, le="+Inf"}`]: growing(600),
  [`nodejs_eventloop_lag_p99_seconds{${NODE}}`]: always(0.02),
  [`process_start_time_seconds{${NODE}}`]: always(1000),
  [`tipline_tls_certificate_expiry_timestamp_seconds{${NODE}}`]: always(7_776_000),
  [`tipline_rate_limit_store_failures_total{${NODE}}`]: always(0),
  [`tipline_database_reads_total{${NODE}, server="primary"}`]: growing(10),
  [`tipline_database_reads_total{${NODE}, server="replica"}`]: growing(600),
  [`tipline_database_connections{${NODE}, state="waiting"}`]: always(0),
  [`tipline_replica_failures_total{${NODE}}`]: always(0),
  [`tipline_export_failures_total{${NODE}}`]: always(0),
  [`tipline_jobs_total{${NODE}, queue="sums", result="done"}`]: growing(1),
  [`tipline_jobs_total{${NODE}, queue="sources", result="done"}`]: growing(12),
  [`tipline_jobs_total{${NODE}, queue="sources", result="failed"}`]: always(0),
  [`tipline_queue_jobs{${NODE}, queue="source-run", state="waiting"}`]: always(1),
  [`tipline_source_consecutive_failures{${NODE}, source="Feed"}`]: always(0),
  [`tipline_source_last_success_timestamp_seconds{${NODE}, source="Feed"}`]: growing(120),
  [`tipline_source_interval_seconds{${NODE}, source="Feed"}`]: always(600),
  [`tipline_source_last_success_timestamp_seconds{${NODE}, source="On demand"}`]: always(0),
  [`tipline_source_interval_seconds{${NODE}, source="On demand"}`]: always(0),
  [`tipline_imports_last_day{${NODE}, state="done"}`]: always(3),
  [`tipline_imports_last_day{${NODE}, state="failed"}`]: always(0),
  [`tipline_feed_held_back_entries{${NODE}, feed="edge"}`]: always(0),
  [`tipline_feed_webhook_consecutive_failures{${NODE}, feed="edge"}`]: always(0),
  [`tipline_provider_lookups_total{${NODE}, provider="virustotal", outcome="answered"}`]: growing(4),
  [`tipline_provider_lookups_total{${NODE}, provider="virustotal", outcome="failed"}`]: always(0),
  [`tipline_api_key_expiry_timestamp_seconds{${NODE}, key="siem", id="1"}`]: always(1_123_200),
  [`tipline_rate_limited_total{${NODE}}`]: growing(1),
};

/** Alerts, what changes after half an hour, and the labels of the alert beside its name and severity. */
const CASES: [string, Record<string, string>, string?][] = [
  ['TiplineDown', { 'up{': then(1, 0) }, NODE],
  ['TiplineDatabaseUnavailable', { tipline_state_readable: then(1, 0) }, NODE],
  ['TiplineErrors', { 'status="503"': growingThen(0, 60) }, 'job="tipline"'],
  ['TiplineSlow', { 'le="0.01"': growingThen(600, 500) }, 'job="tipline"'],
  ['TiplineEventLoopBlocked', { nodejs_eventloop: then(0.02, 2) }, NODE],
  ['TiplineRestarts', { process_start: '1000x14 1000+1x50' }, NODE],
  ['TiplineCertificateExpires', { tipline_tls: then(7_776_000, 950_400) }, NODE],
  ['TiplineRedisUnavailable', { tipline_rate_limit_store: growingThen(0, 5) }, 'job="tipline"'],
  [
    'TiplineReplicasUnused',
    { 'server="primary"': growingThen(10, 600), 'server="replica"': growingThen(600, 0) },
    'job="tipline"',
  ],
  ['TiplineConnectionsExhausted', { tipline_database_connections: then(0, 7) }, NODE],
  ['TiplineReplicaFailing', { tipline_replica_failures: growingThen(0, 5) }, 'job="tipline"'],
  ['TiplineExportsFail', { tipline_export_failures: growingThen(0, 1) }, 'job="tipline"'],
  [
    'TiplineWorkerNotRunning',
    { 'queue="sums"': growingThen(1, 0), 'queue="sources", result="done"': growingThen(12, 0) },
  ],
  ['TiplineSumsLate', { 'queue="sums"': growingThen(1, 0) }],
  ['TiplineJobsFail', { 'queue="sources", result="failed"': growingThen(0, 1) }, 'queue="sources"'],
  ['TiplineJobsWait', { tipline_queue_jobs: then(1, 80) }, 'queue="source-run"'],
  ['TiplineFeedFails', { tipline_source_consecutive: then(0, 5) }, 'source="Feed"'],
  [
    'TiplineFeedLate',
    { [`tipline_source_last_success_timestamp_seconds{${NODE}, source="Feed"}`]: growingThen(120, 0) },
    'source="Feed"',
  ],
  ['TiplineImportsFail', { 'state="failed"': then(0, 1) }],
  ['TiplineEntriesHeldBack', { tipline_feed_held_back: then(0, 40) }, 'feed="edge"'],
  ['TiplineWebhookFails', { tipline_feed_webhook: then(0, 5) }, 'feed="edge"'],
  ['TiplineProviderFails', { 'outcome="failed"': growingThen(0, 40) }, 'provider="virustotal"'],
  ['TiplineKeyExpires', { tipline_api_key: then(1_123_200, 86_400) }, 'id="1", key="siem"'],
  ['TiplineKeysLimited', { tipline_rate_limited: growingThen(1, 300) }, 'job="tipline"'],
];

interface Rule {
  alert: string;
  labels: { severity: string };
}
const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** The series with some replaced, which are found by a part of their names. */
function changed(changes: Record<string, string>) {
  for (const part of Object.keys(changes))
    if (Object.keys(HEALTHY).filter((series) => series.includes(part)).length !== 1)
      throw new Error(`${part} is not a part of one series`);
  return Object.entries(HEALTHY).map(([series, values]) => {
    const [, other = values] = Object.entries(changes).find(([part]) => series.includes(part)) ?? [];
    return { series, values: other };
  });
}

function firing(name: string, labels = '') {
  const severity = rules.find(({ alert }) => alert === name)?.labels.severity;
  return {
    labels: `ALERTS{alertname="${name}", alertstate="firing", severity="${severity}"${labels && `, ${labels}`}}`,
    value: 1,
  };
}

/** All that fires at a time. */
const at = (time: string, samples: object[]) => ({
  expr: 'ALERTS{alertstate="firing"}',
  eval_time: time,
  exp_samples: samples,
});

const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
const isMissing = promtool('--version').error !== undefined;
if (isMissing) console.warn('\n*** No promtool found: the alert rules are not run. ***\n');

it('each alert but the last warning of a certificate has a case', () => {
  const names = rules.map(({ alert }) => alert);
  expect([...CASES.map(([name]) => name), 'TiplineCertificateExpiresNow'].sort()).toEqual(names.sort());
});

describe.skipIf(isMissing)('the alert rules', () => {
  it('are valid', () => expect(promtool('check', 'rules', RULES)).toMatchObject({ status: 0 }));

  it('fire for what they are about, alone, and not while all is well', { tags: ['nightly'] }, () => {
    const tests = [
      { name: 'all is well', input_series: changed({}), promql_expr_test: [at(LATE, [])] },
      ...CASES.map(([name, changes, labels]) => ({
        name,
        input_series: changed(changes),
        promql_expr_test: [at(EARLY, []), at(LATE, [firing(name, labels)])],
      })),
      {
        name: 'TiplineCertificateExpiresNow',
        input_series: changed({ tipline_tls: then(7_776_000, 86_400) }),
        promql_expr_test: [
          at(
            '120m',
            ['TiplineCertificateExpires', 'TiplineCertificateExpiresNow'].map((name) => firing(name, NODE)),
          ),
        ],
      },
    ];
    const file = join(temporaryDirectory(), 'tests.yml');
    const interval = { interval: INTERVAL };
    writeFileSync(
      file,
      stringify({
        rule_files: [RULES],
        evaluation_interval: INTERVAL,
        tests: tests.map((test) => ({ ...interval, ...test })),
      }),
    );
    const { status, stdout, stderr } = promtool('test', 'rules', file);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  });
});
