import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import type { KubernetesObject } from './helm.ts';

interface Schemas {
  /** By API version and kind. */
  kinds: Record<string, object>;
  definitions?: object;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../schemas/kubernetes/${name}.json`, import.meta.url), 'utf8')) as Schemas;

/** Functions that check the objects of a kind, by API version and kind. They reject unknown fields. */
function compile(...names: string[]): Map<string, ValidateFunction> {
  const ajv = new Ajv({ strict: false, allErrors: true });
  return new Map(
    names
      .map(read)
      .flatMap(({ kinds, definitions }) =>
        Object.entries(kinds).map(([kind, schema]): [string, ValidateFunction] => [
          kind,
          ajv.compile({ ...schema, definitions }),
        ]),
      ),
  );
}

/** The oldest version that the chart supports, and the newest one that it was checked with. */
const VERSIONS = ['1.29', '1.36'].map((version) => ({
  version,
  kinds: compile(`kubernetes-${version}`, 'prometheus-operator'),
}));

/** Returns what is wrong with an object, in either version of Kubernetes. */
export function problemsOf(object: KubernetesObject): string[] {
  const name = `${object.apiVersion} ${object.kind}`;
  return VERSIONS.flatMap(({ version, kinds }) => {
    const check = kinds.get(name);
    if (!check) return [`${version}: there is no ${name}`];
    check(object);
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${version}: ${name} ${object.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  });
}
