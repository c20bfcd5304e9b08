import { compareTlp } from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { type ImportInput, UnreadableInput } from './importer.ts';
import { readJsonRecords } from './json-stream.ts';
import { mostRestrictive, splitMarkings, tlpOfStixId, tlpOfTag, tlpOfWord } from './markings.ts';
import {
  type Fields,
  field,
  isObject,
  listOf,
  MAX_ID,
  RecordRejected,
  tagsOf,
  textOf,
} from './record-fields.ts';
import { STIX_LIMITS } from './stix-fields.ts';

/**
 * Statement markings without a TLP that files refer to without their definition: ATT&CK's copyright notice.
 */
const KNOWN_STATEMENTS = ['marking-definition--fa42a846-8d90-4e51-bc29-71d5b4802168'];
/** Extension of OASIS for TLP 2.0, a property extension of marking-definition. */
const TLP_2_EXTENSION = 'extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d';
/** Bounds the memory that a hostile file can claim; a definition beyond it counts as RED. */
const MAX_DEFINITIONS = 10_000;

/** The maximum length of an author's name, in characters. */
const MAX_AUTHOR = 256;
/** An identity with more markings counts as RED. */
const MAX_MARKINGS = 100;

export interface StixDefinitions {
  /** Remembers a marking definition or an identity. */
  add(object: Fields): void;
  /** The narrowest of an object's own and granular markings and its labels; null: none, or statements only. */
  tlpOf(object: Fields): Promise<Tlp | null>;
  /**
   * The names of those who created the object, without that of an identity for fewer people than the object.
   * @param tlp of the object
   */
  authorsOf(object: Fields, tlp: Tlp | null): Promise<string[]>;
}

/**
 * Resolves the markings and authors of one file. A definition may follow the objects that it marks: the first unknown
 * id costs one more pass over the file, so that memory stays flat. A marking unknown after that is RED.
 */
export function stixDefinitions(input: ImportInput): StixDefinitions {
  const known = new Map<string, Tlp | null>(KNOWN_STATEMENTS.map((id) => [id, null]));
  const identities = new Map<string, Identity>();
  let complete = false;

  const add = (object: Fields) => {
    if (object.type === 'marking-definition') addMarking(object);
    if (object.type === 'identity') addIdentity(object);
  };
  const addIdentity = (identity: Fields) => {
    const id = textOf(field(identity, 'id'));
    const name = textOf(field(identity, 'name'));
    if (id === null || name === null || identities.size >= MAX_DEFINITIONS) return;
    // Of several versions of an identity every marking counts.
    const markings = [...(identities.get(id)?.markings ?? []), ...markingsOfIdentity(identity)];
    identities.set(id, { name: name.slice(0, MAX_AUTHOR), markings: [...new Set(markings)] });
  };
  const readAll = async () => {
    if (complete) return;
    complete = true;
    await forEachObject(input, add);
  };
  const addMarking = (definition: Fields) => {
    const id = textOf(field(definition, 'id'));
    if (id === null || (known.size >= MAX_DEFINITIONS && !known.has(id))) return;
    // Of two definitions under one id the narrower counts, whichever came first.
    known.set(id, mostRestrictive([known.get(id) ?? null, tlpOfDefinition(definition)]));
  };
  const tlpOfIds = async (ids: readonly string[]) => {
    if (!ids.every(isKnown)) await readAll();
    return mostRestrictive(ids.map(tlpOfId));
  };
  const isKnown = (id: string) => tlpOfStixId(id) !== null || known.has(id);
  const tlpOfId = (id: string) => tlpOfStixId(id) ?? (known.has(id) ? (known.get(id) ?? null) : 'RED');

  return {
    add,
    async authorsOf(object, tlp) {
      const id = textOf(field(object, 'created_by_ref'));
      if (id !== null && !identities.has(id)) await readAll();
      const creator = identities.get(id ?? '');
      // An object without a marking has the TLP of its source, which may be CLEAR.
      const isForAudience =
        creator !== undefined &&
        compareTlp((await tlpOfIds(creator.markings)) ?? 'CLEAR', tlp ?? 'CLEAR') <= 0;
      return tagsOf(field(object, 'authors'), isForAudience ? [creator.name] : []);
    },
    async tlpOf(object) {
      const ids = markingIds(object);
      const marked = ids.length === 0 ? null : await tlpOfIds(ids);
      return splitMarkings(marked, tagsOf(field(object, 'labels'))).tlp;
    },
  };
}

interface Identity {
  name: string;
  /** Ids of its markings. */
  markings: string[];
}

/** The id of no definition, by which an identity is RED. */
const UNKNOWN_MARKING = 'unknown';

function markingsOfIdentity(identity: Fields): string[] {
  try {
    const ids = markingIds(identity);
    return ids.length > MAX_MARKINGS || ids.some((id) => id.length > MAX_ID) ? [UNKNOWN_MARKING] : ids;
  } catch (error) {
    if (error instanceof RecordRejected) return [UNKNOWN_MARKING];
    throw error;
  }
}

/** @throws {RecordRejected} when the markings cannot be read: an object must not lose its marking that way */
function markingIds(object: Fields): string[] {
  const granular = listOf(field(object, 'granular_markings'));
  const refs = listOf(field(object, 'object_marking_refs'));
  if (granular === null || refs === null) throw new RecordRejected('markings not readable');
  const ids = [...refs];
  for (const marking of granular) {
    if (!isObject(marking)) throw new RecordRejected('markings not readable');
    // A granular marking may state a language instead.
    if (Object.hasOwn(marking, 'marking_ref')) ids.push(marking.marking_ref);
  }
  return ids.map((id) => {
    if (typeof id !== 'string') throw new RecordRejected('markings not readable');
    return id.trim();
  });
}

function tlpOfDefinition(definition: Fields): Tlp | null {
  const extensions = field(definition, 'extensions');
  const extension = isObject(extensions) ? field(extensions, TLP_2_EXTENSION) : undefined;
  if (isObject(extension)) return tlpOfWord(String(extension.tlp_2_0));
  const type = textOf(field(definition, 'definition_type'))?.toLowerCase();
  const name = textOf(field(definition, 'name')) ?? '';
  const content = field(definition, 'definition');
  if (type === 'tlp') return tlpOfWord(String((isObject(content) ? textOf(content.tlp) : null) ?? name));
  const statement = isObject(content) ? textOf(content.statement) : null;
  const stated = mostRestrictive([tlpOfTag(name), tlpOfOpenCti(definition), tlpOfTag(statement ?? '')]);
  return stated ?? (type === 'statement' ? null : 'RED');
}

/** Connectors of OpenCTI write a TLP that STIX 2.1 does not define as a statement with properties of their own. */
function tlpOfOpenCti(definition: Fields): Tlp | null {
  const text = textOf(field(definition, 'x_opencti_definition')) ?? '';
  const type = textOf(field(definition, 'x_opencti_definition_type'))?.toLowerCase();
  return type === 'tlp' ? tlpOfWord(text) : tlpOfTag(text);
}

async function forEachObject(input: ImportInput, add: (object: Fields) => void) {
  try {
    for await (const part of readJsonRecords(input, STIX_LIMITS))
      for (const { value } of part) if (isObject(value)) add(value);
  } catch (error) {
    // The main pass ends with the same error, after it has yielded the records before it.
    if (!(error instanceof UnreadableInput)) throw error;
  }
}
