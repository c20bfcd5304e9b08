import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mispFormat } from '../../src/formats/misp.ts';
import { indicatorId, uuidv5 } from '../../src/model/identity.ts';
import { normalize } from '../../src/model/normalize.ts';
import { type IndicatorType, TLPS, type Tlp } from '../../src/model/vocabulary.ts';
import { written } from '../formats/input.ts';
import { problemsOf, readEvent, type WrittenEvent } from '../formats/misp-checks.ts';
import { importMisp, type State } from './misp-state.ts';
import { runs } from './runs.ts';

const TLP_TAG: Record<Tlp, string> = {
  CLEAR: 'tlp:white',
  GREEN: 'tlp:green',
  AMBER: 'tlp:amber',
  AMBER_STRICT: 'tlp:amber+strict',
  RED: 'tlp:red',
};
const EVENT_DATE = '2026-01-01';
const hash = (at: number, length: number) => String(at).padStart(length, '0');

/** MISP's types, and what each holds: the attribute `at` of an event differs from all others. */
const VALUES: Record<string, (at: number) => { value: string; holds: [IndicatorType, string][] }> = {
  'ip-src': (at) => one('IPV4', `192.0.2.${at}`),
  'ip-dst|port': (at) => ({ value: `2001:db8::${at}|443`, holds: [['IPV6', `2001:db8::${at}`]] }),
  hostname: (at) => one('DOMAIN', `h${at}.example`),
  'domain|ip': (at) => ({
    value: `d${at}.example|198.51.100.${at}`,
    holds: [
      ['DOMAIN', `d${at}.example`],
      ['IPV4', `198.51.100.${at}`],
    ],
  }),
  url: (at) => one('URL', `http://u.example/${at}?a=";|'<b>%20`),
  'filename|md5': (at) => ({
    value: `a|b ${at}.exe|${hash(at, 32)}`,
    holds: [
      ['FILENAME', `a|b ${at}.exe`],
      ['MD5', hash(at, 32)],
    ],
  }),
  sha256: (at) => one('SHA256', hash(at, 64)),
  'email-src': (at) => one('EMAIL', `sender${at}@mail.example`),
  vulnerability: (at) => one('CVE', `CVE-2026-1${hash(at, 4)}`),
  mutex: (at) => one('MUTEX', `Global\\{${at}}"😈`),
  regkey: (at) => one('REGISTRY_KEY', `hkey_users\\${at}`),
  'user-agent': (at) => one('USER_AGENT', `=bot/${at}; "x"`),
  AS: (at) => ({ value: `${64496 + at}`, holds: [['ASN', `AS${64496 + at}`]] }),
};

function one(type: IndicatorType, value: string): { value: string; holds: [IndicatorType, string][] } {
  return { value, holds: [[type, value]] };
}

const tag = fc.oneof(
  fc.constantFrom('botnet', 'kill-chain:delivery', 'type:OSINT', 'line\nbreak', 'a"b', '=1+1', '😈'),
  fc.constantFrom('misp-galaxy:sector="Bank"', 'misp-galaxy:mitre-attack-pattern="PowerShell - T1059.001"'),
  fc.constantFrom('misp-galaxy:mitre-tool="PsExec - S0029"', 'misp-galaxy:country="nowhere"'),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => `x${text}`.trim()),
);
const tags = fc.uniqueArray(tag, { maxLength: 4 });
/** Of an event, what it is about; the attribute's own come with its number. */
const linked = fc.subarray([
  'misp-galaxy:threat-actor="Example Bear"',
  'misp-galaxy:mitre-intrusion-set="Example Group - G9999"',
  'misp-galaxy:mitre-campaign="Operation Example"',
  'misp-galaxy:mitre-malware="Examplebot - S9999"',
]);
const seconds = fc.integer({ min: 1_767_225_600, max: 1_780_000_000 });
const milliseconds = seconds.chain((s) => fc.integer({ min: 0, max: 999 }).map((ms) => s * 1000 + ms));

const attribute = fc.record({
  type: fc.constantFrom(...Object.keys(VALUES)),
  seconds,
  seen: fc.option(fc.tuple(milliseconds, milliseconds).map((times) => times.sort((a, b) => a - b))),
  toIds: fc.boolean(),
  /** A TLP of its own, where it is for fewer than the event's. */
  narrower: fc.option(fc.nat({ max: 4 })),
  tags,
  hasActor: fc.boolean(),
});
const event = fc.record({
  tlp: fc.constantFrom(...TLPS),
  tags,
  linked,
  attributes: fc.array(attribute, { minLength: 1, maxLength: 8 }),
});
type Sample = typeof event extends fc.Arbitrary<infer T> ? T : never;

const tlpOf = (sample: Sample, own: Sample['attributes'][number]): Tlp =>
  TLPS[Math.max(TLPS.indexOf(sample.tlp), own.narrower ?? 0)] as Tlp;
const actorTag = (at: number) => `misp-galaxy:threat-actor="Bear ${at}"`;
const mispTime = (time: number) => `${new Date(time).toISOString().slice(0, -1)}000+00:00`;

function asMisp(sample: Sample): string {
  const tagsOf = (names: string[]) => names.map((name) => ({ name }));
  const attributes = sample.attributes.map((own, at) => ({
    uuid: `00000000-0000-4000-8000-${hash(at, 12)}`,
    type: own.type,
    value: VALUES[own.type]?.(at).value,
    to_ids: own.toIds,
    timestamp: String(own.seconds),
    ...(own.seen === null ? {} : { first_seen: mispTime(own.seen[0]), last_seen: mispTime(own.seen[1]) }),
    Tag: tagsOf([
      ...(own.narrower === null ? [] : [TLP_TAG[tlpOf(sample, own)]]),
      ...own.tags,
      ...(own.hasActor ? [actorTag(at)] : []),
    ]),
  }));
  const Tag = tagsOf([TLP_TAG[sample.tlp], ...sample.tags, ...sample.linked]);
  const uuid = '00000000-0000-4000-8000-999999999999';
  return JSON.stringify({ Event: { uuid, info: 'x', date: EVENT_DATE, Tag, Attribute: attributes } });
}

/** By the uuid of an attribute, what MISP must find in it again. */
function expected(sample: Sample, eventUuid: string): Map<string, object> {
  return new Map(
    sample.attributes.flatMap((own, at) => {
      const fields = {
        to_ids: own.toIds,
        first_seen: mispTime(own.seen?.[0] ?? Date.parse(EVENT_DATE)),
        last_seen: mispTime(own.seen?.[1] ?? own.seconds * 1000),
        tags: [
          ...[`tlp:${tlpOf(sample, own).toLowerCase().replace('_', '+')}`, ...sample.tags, ...own.tags],
          ...[...sample.linked, ...(own.hasActor ? [actorTag(at)] : [])],
        ],
      };
      const { holds } = VALUES[own.type]?.(at) ?? { holds: [] };
      const tags = [...new Set(fields.tags)].sort();
      return holds.map(([type, value]): [string, object] => [
        uuidv5(idOf(type, value), eventUuid),
        { ...fields, tags },
      ]);
    }),
  );
}

function idOf(type: IndicatorType, value: string): string {
  const normal = normalize(type, value);
  return 'type' in normal ? indicatorId(type, normal.normalized) : normal.rejected;
}

function found({ Attribute }: WrittenEvent): Map<string, object> {
  return new Map(
    Attribute.map(({ uuid, to_ids, first_seen, last_seen, Tag }) => [
      uuid,
      { to_ids, first_seen, last_seen, tags: Tag.map(({ name }) => name).sort() },
    ]),
  );
}

const exported = ({ rows, entities }: State) => written(mispFormat({ context: true }), rows, { entities });

describe('a MISP round trip', () => {
  it('neither loses nor adds indicators, tags, TLP or times', async () => {
    await fc.assert(
      fc.asyncProperty(event, async (sample) => {
        const back = readEvent(await exported(await importMisp(asMisp(sample))));
        expect(problemsOf(back)).toEqual([]);
        expect(found(back)).toEqual(expected(sample, back.uuid));
      }),
      runs(150),
    );
  });

  it('is stable when repeated', async () => {
    // What attributes of several markings name is for the fewest of them; then it stays off those for more.
    const ofOneTlp = event.map(({ attributes, ...rest }) => ({
      ...rest,
      attributes: attributes.map((own) => ({ ...own, narrower: null })),
    }));
    await fc.assert(
      fc.asyncProperty(ofOneTlp, async (sample) => {
        const once = await exported(await importMisp(asMisp(sample)));
        expect(found(readEvent(await exported(await importMisp(once))))).toEqual(found(readEvent(once)));
      }),
      runs(100),
    );
  });
});
