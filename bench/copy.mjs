import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { find } from './servers.mjs';

const ESCAPES = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const BUFFER = 1 << 18;

/**
 * Opens a COPY into a table through psql. Triggers, and so foreign keys, do not fire: the rows are taken to be whole.
 * @param {string} columns names, separated by spaces
 * @returns `write(row)`, which gives a promise when the caller should wait, and `end()`
 */
export function openCopy(url, table, columns) {
  const psql = spawn(
    find('psql'),
    [url, '-qXv', 'ON_ERROR_STOP=1', '-c', `copy ${table} (${columns.split(' ').join(', ')}) from stdin`],
    {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...process.env, PGOPTIONS: '-c session_replication_role=replica' },
    },
  );
  const exited = once(psql, 'exit');
  psql.stdin.on('error', () => {});
  let text = '';
  const flush = () => {
    const full = text;
    text = '';
    return psql.stdin.write(full);
  };
  return {
    write(row) {
      text += `${row.map(field).join('\t')}\n`;
      if (text.length < BUFFER || flush()) return undefined;
      return Promise.race([once(psql.stdin, 'drain'), exited]);
    },
    async end() {
      flush();
      psql.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`copying into ${table} failed`);
    },
  };
}

export async function copyRows(url, table, columns, rows) {
  const copy = openCopy(url, table, columns);
  for (const row of rows) await copy.write(row);
  await copy.end();
}

/** COPY's text format. */
function field(value) {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return escapeText(`{${value.map(element).join(',')}}`);
  return typeof value === 'string' ? escapeText(value) : String(value);
}

const escapeText = (text) => text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]);
const element = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
