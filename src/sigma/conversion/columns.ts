import {
  ANY,
  both,
  type Comparison,
  constant,
  type Expression,
  either,
  literalOf,
  matches,
  type Pattern,
  replaceTexts,
  shapeOf,
  type Test,
} from './expression.ts';
import { Unconvertible } from './unconvertible.ts';
import type { SigmaField } from './values.ts';

/** A field of a product's events: a column, or an expression of the language that has its value. */
export interface Column {
  /** In the notation of the language. */
  name: string;
  /** `list`: several texts, of which one is equal to the compared one. */
  type: 'text' | 'number' | 'address' | 'truth' | 'list';
}

export const column = (name: string, type: Column['type'] = 'text'): Column => ({ name, type });

/** The place of a field of Sigma's taxonomy: a column, or a function that expresses its tests by several. */
export type Place = Column | ((test: Test<string>) => Expression<Column>);

export type Places = Readonly<Record<string, Place | undefined>>;

/** The events of a log source in a product. */
export interface Events {
  /** A table, a function or patterns of indices; '' where queries do not begin with one. */
  table: string;
  /** The condition that selects the events of the log source. */
  condition: Expression<Column>;
  /** Returns the place of a field; undefined if the events have none. */
  place(field: string): Place | undefined;
  /** Whether the product's own names are known for this log source; otherwise fields have the rule's names. */
  isMapped: boolean;
  /** The text of a whole event, for words that any field may have; undefined if the product has none. */
  text?: Column;
}

const equality =
  (isCased: boolean) =>
  (field: Column, ...texts: string[]): Expression<Column> =>
    either(
      texts.map((text) => ({
        kind: 'comparison',
        field,
        test: { kind: 'pattern', pattern: text === '' ? [] : [text], isCased },
      })),
    );

/** Returns whether a field has one of these texts, in any letter case. */
export const isOneOf = equality(false);
/** Returns whether a field has one of these texts, as the product writes them. */
export const isExactly = equality(true);

/** Returns a comparison of a rule in the columns of the events. */
export function toColumns({ field, test }: Comparison<SigmaField>, events: Events): Expression<Column> {
  const place = field === null ? events.text : events.place(field);
  if (place === undefined)
    throw field === null
      ? new Unconvertible('keywords', 'words that any field may have')
      : new Unconvertible('field', field);
  if (test.kind === 'sameAs') {
    const other = events.place(test.other ?? '');
    if (typeof place === 'function' || other === undefined || typeof other === 'function')
      throw new Unconvertible('field', `a comparison of ${field} with ${test.other}`);
    return { kind: 'comparison', field: place, test: { ...test, other } };
  }
  return typeof place === 'function'
    ? place(test as Test<string>)
    : { kind: 'comparison', field: place, test };
}

/** A test of a value, not of another field. */
type ValueTest = Exclude<Test<Column>, { kind: 'sameAs' }>;

const compare = (field: Column, test: ValueTest): Expression<Column> => ({ kind: 'comparison', field, test });

function valueTest(test: Test<string>): ValueTest {
  if (test.kind === 'sameAs') throw new Unconvertible('field', 'a comparison of two fields');
  return test;
}

function patternOfTest(test: Test<string>, name: string): Pattern {
  if (test.kind === 'pattern') return test.pattern;
  throw new Unconvertible('field', name);
}

/** A field that has the same value in all events. */
export const always =
  (value: string): Place =>
  (test) => {
    if (test.kind === 'exists') return constant(true);
    return constant(matches(patternOfTest(test, value), value));
  };

/** A truth value that is true in all events of the product, where the rule's log source has others, too. */
export const onlyTrue: Place = (test) => {
  if (test.kind === 'exists' || (test.kind === 'pattern' && matches(test.pattern, 'true')))
    return constant(true);
  throw new Unconvertible('value', 'events that the table does not have');
};

/** A field with other values in the product. */
export const renamed =
  (field: Column, values: Readonly<Record<string, readonly string[]>>): Place =>
  (test) => {
    if (test.kind === 'exists') return compare(field, test);
    const pattern = patternOfTest(test, field.name);
    const chosen = Object.entries(values).filter(([value]) => matches(pattern, value));
    if (chosen.length === 0) throw new Unconvertible('value', `a value that ${field.name} does not have`);
    return isOneOf(field, ...chosen.flatMap(([, names]) => names));
  };

/**
 * A field whose patterns are replaced by others, of which one must match.
 * @param replaced finds the texts that are replaced, which regular expressions must not have
 */
export const rewritten =
  (field: Column, rewrite: (pattern: Pattern) => Pattern[], replaced: RegExp): Place =>
  (test) => {
    if (test.kind !== 'pattern') {
      if (test.kind === 'exists' || (test.kind === 'regex' && !replaced.test(test.regex)))
        return compare(field, test);
      throw new Unconvertible('value', `a comparison of ${field.name} other than with a text`);
    }
    return either(rewrite(test.pattern).map((pattern) => compare(field, { ...test, pattern })));
  };

/** A user as `DOMAIN\name`, where the product has both apart. */
export const user =
  (domain: Column, name: Column): Place =>
  (test) => {
    if (test.kind === 'exists') return compare(name, test);
    const shape = shapeOf(patternOfTest(test, 'User'));
    if (shape.text === undefined) throw new Unconvertible('value', 'a user with wildcards inside');
    const pieces = shape.text.split('\\');
    const [first = '', second = ''] = pieces;
    const part = (field: Column, text: string, start: boolean, end: boolean) =>
      compare(
        field,
        patternTest([
          ...(start ? ([ANY] as const) : []),
          ...(text === '' ? [] : [text]),
          ...(end ? ([ANY] as const) : []),
        ]),
      );
    const [opensAny, endsAny] = [
      shape.place === 'inside' || shape.place === 'end',
      shape.place === 'inside' || shape.place === 'start',
    ];
    if (pieces.length === 2)
      return both([
        ...(first === '' && opensAny ? [] : [part(domain, first, opensAny, false)]),
        ...(second === '' && endsAny ? [] : [part(name, second, false, endsAny)]),
      ]);
    if (pieces.length > 2) throw new Unconvertible('value', 'a user with two backslashes');
    if (shape.place === 'inside')
      return either([domain, name].map((field) => part(field, first, true, true)));
    return shape.place === 'start' ? part(domain, first, false, true) : part(name, first, opensAny, false);
  };

const patternTest = (pattern: Pattern): ValueTest =>
  pattern.length === 1 && pattern[0] === ANY
    ? { kind: 'exists' }
    : { kind: 'pattern', pattern, isCased: false };

const HASH = /^(?:(MD5|SHA1|SHA256|IMPHASH)=)?([0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64})$/i;
const ALGORITHMS: Readonly<Record<number, string>> = { 32: 'MD5', 40: 'SHA1', 64: 'SHA256' };

/** Sysmon's list of hashes, `MD5=…,SHA256=…`, where the product has one column for each algorithm. */
export const hashes =
  (columns: Readonly<Record<string, Column | undefined>>): Place =>
  (test) => {
    const pattern = patternOfTest(test, 'Hashes').filter((part) => part !== ANY);
    const [, algorithm, digest = ''] = HASH.exec(literalOf(pattern)?.replace(/^,|,$/g, '') ?? '') ?? [];
    const name = algorithm?.toUpperCase() ?? ALGORITHMS[digest.length];
    const field = columns[name ?? ''];
    if (name === undefined) throw new Unconvertible('value', 'a value of Hashes that is no whole hash');
    if (field === undefined) throw new Unconvertible('field', `Hashes: ${name}`);
    return isOneOf(field, digest.toLowerCase());
  };

/** One hash of Sysmon's list in a field of its own. */
export const hash =
  (field: Column): Place =>
  (test) =>
    test.kind === 'pattern'
      ? compare(field, {
          ...test,
          isCased: false,
          pattern: replaceTexts(test.pattern, (text) => text.toLowerCase()),
        })
      : compare(field, valueTest(test));

/** The hives as Sysmon abbreviates them, and in full. */
const HIVES: Readonly<Record<string, readonly string[]>> = {
  HKLM: ['HKEY_LOCAL_MACHINE'],
  HKU: ['HKEY_USERS', 'HKEY_CURRENT_USER'],
  HKCU: ['HKEY_CURRENT_USER'],
  HKCR: ['HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes', 'HKEY_CLASSES_ROOT'],
};
const HIVE = /^(HKLM|HKU|HKCU|HKCR)(?=\\|$)/i;

/** Texts that are not the same in all products: in paths, and in numbers of values. */
export const REGISTRY_PATH = /HK|CurrentControlSet/i;
export const REGISTRY_NUMBER = /[DQ]WORD|Binary|0x/i;

/** A field that has addresses, which the product keeps as text and also as `address`. */
export const addressOrText =
  (text: Column, address: Column): Place =>
  (test) =>
    compare(test.kind === 'network' ? address : text, valueTest(test));

/** Returns the patterns of a registry path with hives in full, and with the set of controls that `CurrentControlSet` points to. */
export function fullRegistryPaths(pattern: Pattern): Pattern[] {
  const index = pattern[0] === ANY ? 1 : 0;
  const first = pattern[index];
  const hive = typeof first === 'string' ? HIVE.exec(first)?.[1] : undefined;
  const named =
    hive === undefined
      ? [pattern]
      : (HIVES[hive.toUpperCase()] ?? []).map((name) =>
          replaceTexts(pattern, (text, at) => (at === index ? name + text.slice(hive.length) : text)),
        );
  const isOfControls = pattern.some((part) => typeof part === 'string' && /CurrentControlSet/i.test(part));
  if (!isOfControls) return named;
  return named.flatMap((path) => [
    path,
    replaceTexts(path, (text) => text.replace(/CurrentControlSet/gi, 'ControlSet001')),
  ]);
}

const NUMBER = /^DWORD \(0x([0-9a-f]{8})\)$|^QWORD \(0x([0-9a-f]{8})-0x([0-9a-f]{8})\)$/i;

/** Returns the number that Sysmon writes as `DWORD (0x00000001)`, in decimal; undefined for other texts. */
function registryNumber(pattern: Pattern): string | undefined {
  const found = NUMBER.exec(literalOf(pattern) ?? '');
  return found ? BigInt(`0x${found.slice(1).join('')}`).toString() : undefined;
}

/** Returns the patterns of a registry value's data where numbers are decimal. */
export function decimalRegistryData(pattern: Pattern): Pattern[] {
  const number = registryNumber(pattern);
  if (number !== undefined) return [[number]];
  const isPartial = pattern.some((part) => typeof part === 'string' && REGISTRY_NUMBER.test(part));
  if (isPartial) throw new Unconvertible('value', 'a part of a number in the registry');
  return [pattern];
}

/** Returns the patterns of a registry value's data where some collectors write numbers as Sysmon does, and some in decimal. */
export function sysmonOrDecimalRegistryData(pattern: Pattern): Pattern[] {
  const number = registryNumber(pattern);
  return number === undefined ? [pattern] : [pattern, [number]];
}
