// The limit for reads by id: node:http and pg alone, one prepared select, JSON.stringify.
// node database-server.mjs PORT DATABASE_URL; it serves /indicators/:id and /indicators/:id/context without checking keys,
// rate limits or visibility.
import { createServer } from 'node:http';
import pg from 'pg';

const [, , port, url] = process.argv;
const pool = new pg.Pool({ connectionString: url, max: 20 });
const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'private, no-cache' };

const linked = (
  kind,
  columns,
  entityEnd,
  indicatorEnd,
) => `(select coalesce(json_agg(json_build_object(${columns})), '[]')
  from relationship r join ${kind} f on f.id = r.${entityEnd}_id
  where r.${indicatorEnd}_id = i.id and r.${entityEnd}_kind = '${kind}' and r.${indicatorEnd}_kind = 'indicator') as ${kind}s`;
const COLUMNS = `i.id, i.type, i.value, i.confidence, i.severity, i.tlp, i.tags, s.name as source, i.first_seen,
  i.last_seen, i.expires_at`;
const FROM = 'from indicator i join source s on s.id = i.source_id where i.id = $1';
const STATEMENTS = {
  detail: { name: 'detail', text: `select ${COLUMNS} ${FROM}` },
  context: {
    name: 'context',
    text: `select ${COLUMNS}, i.normalized, i.pinned_confidence, s.kind,
      (select coalesce(json_agg(json_build_object('provider', e.provider, 'verdict', e.verdict, 'score', e.score,
        'fetchedAt', e.fetched_at, 'expiresAt', e.expires_at, 'error', e.error, 'raw', e.raw)), '[]')
        from enrichment e where e.indicator_id = i.id) as enrichments,
      ${linked('actor', "'id', f.id, 'name', f.name, 'country', f.country", 'to', 'from')},
      ${linked('campaign', "'id', f.id, 'name', f.name, 'confidence', f.confidence", 'to', 'from')},
      ${linked('report', "'id', f.id, 'title', f.title, 'tags', f.tags", 'from', 'to')} ${FROM}`,
  },
};

createServer(async (request, response) => {
  const [, , , , id, context] = request.url.split('/');
  const { rows } = await pool.query({ ...STATEMENTS[context ? 'context' : 'detail'], values: [id] });
  const body = JSON.stringify(rows[0]);
  response.writeHead(rows[0] ? 200 : 404, { ...HEADERS, 'content-length': Buffer.byteLength(body ?? '') });
  response.end(body);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
