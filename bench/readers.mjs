// Readers while something is written: details, first pages, and list pages, another each time.
import http from 'node:http';
import { GENERATOR, measure, pathsFile } from './load.mjs';
import { distinctLists } from './uncached.mjs';

/** Requests per second, sent at a fixed pace however long responses take, so that delays show in the p99. */
const PACE = { detail: 40, list: 4 };
const ROUND_SECONDS = 5;

const delay = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * Returns readers of a server: details and first pages at a fixed pace, and list pages, another each time, at half of the rate that
 * the server reaches without other work.
 * @param ids of indicators that the key may read
 */
export async function startReaders(url, key, ids) {
  if (GENERATOR !== 'wrk') throw new Error('wrk must be installed: only it sends requests at a given rate.');
  const file = pathsFile(distinctLists().map(({ path }) => path));
  let start = 0;
  /** List pages for some seconds; each round continues where the previous one ended, because recent lists are cached. */
  const lists = async (pace) => {
    const measured = await measure(url, key, file, ROUND_SECONDS, start, pace);
    start += measured.requests;
    return measured;
  };
  await lists({});
  const perSecond = (await lists({})).perSecond / 2;
  return {
    /**
     * Sends requests until a promise is settled. As each connection waits for its response, slow responses lower the rate.
     * @returns p50 and p99 of each kind in ms; of list pages the medians of the rounds, and how many there were a second
     */
    async read(until) {
      const hasEnded = endOf(until);
      const rounds = [];
      const readLists = async () => {
        do rounds.push(await lists({ perSecond }));
        while (!hasEnded());
        // The last round went on after the end.
        if (rounds.length > 1) rounds.pop();
      };
      const [paced] = await Promise.all([readAtPace(url, key, ids, until), readLists()]);
      return {
        ...paced,
        lists: {
          p50: median(rounds, 'p50Ms'),
          p99: median(rounds, 'p99Ms'),
          perSecond: median(rounds, 'perSecond'),
        },
      };
    },
  };
}

/** @returns whether a promise is settled */
function endOf(promise) {
  let ended = false;
  const end = () => {
    ended = true;
  };
  void promise.then(end, end);
  return () => ended;
}

/** Requests details and first pages at a fixed pace until a promise is settled. @returns p50 and p99 of each in ms */
export async function readAtPace(url, key, ids, until) {
  const hasEnded = endOf(until);
  const agent = new http.Agent({ keepAlive: true });
  const times = { detail: [], list: [] };
  const send = (kind, path) =>
    new Promise((done, fail) => {
      const startedAt = performance.now();
      http
        .get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
          response.resume().on('end', () => {
            if (response.statusCode !== 200) return fail(new Error(`${path}: ${response.statusCode}`));
            times[kind].push(performance.now() - startedAt);
            done();
          });
        })
        .on('error', fail);
    });
  const stream = async (kind, perSecond, path) => {
    const pending = [];
    for (let n = 0; !hasEnded(); n++) {
      pending.push(send(kind, path(n)));
      await delay(1000 / perSecond);
    }
    await Promise.all(pending);
  };
  await Promise.all([
    stream('detail', PACE.detail, (n) => `/api/v1/indicators/${ids[n % ids.length]}`),
    stream('list', PACE.list, () => '/api/v1/indicators'),
  ]);
  agent.destroy();
  return { detail: percentiles(times.detail), list: percentiles(times.list) };
}

function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99) };
}

function median(rounds, figure) {
  return rounds.map((round) => round[figure]).sort((a, b) => a - b)[rounds.length >> 1];
}

/** @returns a table; `work` names the work beside which the readers were measured the second time */
export function readersTable(without, during, work) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const rate = ({ lists }) => Math.round(lists.perSecond);
  const row = (label, kind) =>
    `| ${label} | ${ms(without[kind])} | ${ms(during[kind])} | ${(during[kind].p99 / without[kind].p99).toFixed(2)} |`;
  return [
    `| readers, p50 / p99 ms | without ${work} | during ${work} | p99 ratio |`,
    '|---|--:|--:|--:|',
    row(`list pages, another each time, ${rate(without)} and ${rate(during)} a second`, 'lists'),
    row('detail', 'detail'),
    row('first page, cached while nothing is written', 'list'),
  ].join('\n');
}
