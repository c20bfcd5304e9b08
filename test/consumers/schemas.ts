import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import AjvDraft04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';

const DIRECTORY = new URL('../schemas/', import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, DIRECTORY), 'utf8'));
/** Their patterns are not of the Unicode kind. */
const OPTIONS = { strict: false, unicodeRegExp: false };

/** What a schema says against a value; empty: nothing. */
export type Check = (value: unknown) => string[];

function checkOf(validate: ValidateFunction): Check {
  return (value) => {
    if (validate(value)) return [];
    const what = JSON.stringify(value).slice(0, 200);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}: ${what}`);
  };
}

/** OASIS' schemas of STIX 2.1: of the bundle, and of each object by its type. */
export function stixSchemas(): (object: { type: string }) => string[] {
  const ajv = new Ajv2020(OPTIONS);
  addFormats.default(ajv);
  const byType = new Map<string, string>();
  for (const room of ['common', 'sdos', 'sros', 'observables']) {
    for (const file of readdirSync(new URL(`stix-2.1/${room}/`, DIRECTORY))) {
      const schema = read(`stix-2.1/${room}/${file}`);
      ajv.addSchema(schema);
      byType.set(file.replace('.json', ''), schema.$id);
    }
  }
  return (object) => {
    const validate = ajv.getSchema(byType.get(object.type) ?? '');
    return validate ? checkOf(validate as ValidateFunction)(object) : [`no schema for ${object.type}`];
  };
}

/**
 * MISP's schema of an event. It is older than `first_seen` and `last_seen` (MISP 2.4.120), which MISP has exported ever since
 * and without which no time of sighting would be kept: they are added to it.
 */
export function mispSchema(): Check {
  const schema = read('misp/event-strict.schema.json');
  const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}\\+00:00$' };
  Object.assign(schema.defs.attribute.properties, { first_seen: time, last_seen: time });
  return checkOf(new AjvDraft04.default(OPTIONS).compile(schema) as ValidateFunction);
}

/** By MISP's own table: the categories that may hold a type. */
export function mispCategories(): Record<string, string[]> {
  const { result } = read('misp/describeTypes.json');
  const types: Record<string, string[]> = {};
  for (const [category, names] of Object.entries<string[]>(result.category_type_mappings)) {
    for (const name of names) types[name] = [...(types[name] ?? []), category];
  }
  return types;
}

/** SigmaHQ's schema of a detection rule. */
export function sigmaSchema(): Check {
  const ajv = new Ajv2020(OPTIONS);
  addFormats.default(ajv);
  const { $schema: _, ...schema } = read('sigma/sigma-detection-rule-schema.json');
  return checkOf(ajv.compile(schema));
}
