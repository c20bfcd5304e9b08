import { readFileSync } from 'node:fs';

/** The ids of all operations of the OpenAPI document. */
export function operationIds(): string[] {
  const { paths } = JSON.parse(
    readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
  ) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths)
    .flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
    .sort();
}
