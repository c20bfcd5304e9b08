// Writes what the clients in clients/ have of the OpenAPI document: types and one method for each operation.
// With --check it writes nothing, and fails if a file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readDescription } from './clients/description.mjs';
import { pythonOperations, pythonTypes } from './clients/python.mjs';
import { typescriptOperations, typescriptTypes } from './clients/typescript.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const description = readDescription(JSON.parse(readFileSync(`${root}openapi/openapi.json`, 'utf8')));
const files = {
  'clients/typescript/src/generated/types.ts': typescriptTypes(description),
  'clients/typescript/src/generated/operations.ts': typescriptOperations(description),
  'clients/python/src/tipline/types.py': pythonTypes(description),
  'clients/python/src/tipline/operations.py': pythonOperations(description),
};

for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(root + path, text);
  else if (readFileSync(root + path, 'utf8') !== text) {
    console.error(`${path} is out of date: run npm run openapi.`);
    process.exitCode = 1;
  }
}
