import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from './servers.mjs';

const ESCAPES = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const BUFFER_LENGTH = 1 << 18;

/**
 * Opens a COPY into a table through psql. Triggers, and with them foreign keys, are disabled: the rows must be consistent.
 * @param {string} columns names, separated by spaces
 * @returns `write(row)`, which returns a promise when the caller must wait for the buffer to drain, and `end()`
 */
export function openCopy(url, table, columns) {
  const psql = spawn(
    findProgram('psql'),
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
    const chunk = text;
    text = '';
    return psql.stdin.write(chunk);
  };
  return {
    write(row) {
      text += copyLine(row);
      if (text.length < BUFFER_LENGTH || flush()) return undefined;
      return Promise.race([once(psql.stdin, 'drain'), exited]);
    },
    async end() {
      flush();
      psql.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`COPY into ${table} failed with exit code ${code}.`);
    },
  };
}

export async function copyRows(url, table, columns, rows) {
  const copy = openCopy(url, table, columns);
  for (const row of rows) await copy.write(row);
  await copy.end();
}

/** Formats a row in COPY's text format. */
export const copyLine = (row) => `${row.map(formatField).join('\t')}\n`;

function formatField(value) {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return escapeText(`{${value.map(quoteElement).join(',')}}`);
  return typeof value === 'string' ? escapeText(value) : String(value);
}

const escapeText = (text) => text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]);
const quoteElement = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;
