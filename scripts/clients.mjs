// Writes what follows from the OpenAPI document: types and one method for each operation of the clients in clients/, and the
// reference of the API in docs/reference/api/.
// With --check it writes nothing, and fails if a file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readDescription } from './clients/description.mjs';
import { pythonOperations, pythonTypes } from './clients/python.mjs';
import { referencePages } from './clients/reference.mjs';
import { typescriptOperations, typescriptTypes } from './clients/typescript.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const document = JSON.parse(readFileSync(`${root}openapi/openapi.json`, 'utf8'));
const description = readDescription(document);
const files = {
  'clients/typescript/src/generated/types.ts': typescriptTypes(description),
  'clients/typescript/src/generated/operations.ts': typescriptOperations(description),
  'clients/python/src/tipline/types.py': pythonTypes(description),
  'clients/python/src/tipline/operations.py': pythonOperations(description),
  ...referencePages(document, description),
};

for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(root + path, text);
  else if (readFileSync(root + path, 'utf8') !== text) {
    console.error(`${path} is out of date: run npm run openapi.`);
    process.exitCode = 1;
  }
}
