/** What MISP takes, of what this project writes: transcribed from its describeTypes and its models' validation. */

import type { MispTag } from '../../src/formats/misp/tags.ts';

interface MispAttribute {
  type: string;
  category: string;
  to_ids: boolean;
  uuid: string;
  distribution: string;
  timestamp: string;
  comment: string;
  first_seen: string;
  last_seen: string;
  value: string;
  Tag: MispTag[];
}

export interface WrittenEvent {
  uuid: string;
  info: string;
  date: string;
  timestamp: string;
  publish_timestamp: string;
  published: boolean;
  threat_level_id: string;
  analysis: string;
  distribution: string;
  Orgc: { name: string; uuid: string };
  Tag: MispTag[];
  Attribute: MispAttribute[];
}

export function readEvent(text: string): WrittenEvent {
  return (JSON.parse(text) as { Event: WrittenEvent }).Event;
}

const IOC = ['Payload delivery', 'Network activity', 'External analysis'];
const FILE = ['Payload delivery', 'Artifacts dropped', 'Payload installation', 'External analysis'];
const HASH = (length: number) => new RegExp(`^[0-9a-f]{${length}}$`);

const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f:]+)$/;
const MAILBOX = /^[^\sA-Z]+@[^\sA-Z]+\.[^\sA-Z]+$/;

/** By type: the categories that may hold it, and the form of its values. */
const TYPES: Record<string, { categories: string[]; form: RegExp }> = {
  'ip-src': { categories: IOC, form: ADDRESS },
  'ip-dst': { categories: IOC, form: ADDRESS },
  hostname: { categories: IOC, form: /^[a-z0-9.\-_]+\.[a-z0-9-]{2,}$/ },
  'email-src': { categories: ['Payload delivery', 'Network activity', 'Social network'], form: MAILBOX },
  'email-dst': { categories: ['Payload delivery', 'Network activity', 'Social network'], form: MAILBOX },
  domain: { categories: IOC, form: /^[a-z0-9.\-_]+\.[a-z0-9-]{2,}$/ },
  url: { categories: IOC, form: /^[^\n]+$/ },
  md5: { categories: FILE, form: HASH(32) },
  sha1: { categories: FILE, form: HASH(40) },
  sha256: { categories: FILE, form: HASH(64) },
  email: {
    categories: ['Payload delivery', 'Network activity', 'Attribution', 'Social network', 'Person'],
    form: MAILBOX,
  },
  vulnerability: {
    categories: ['Payload delivery', 'Payload installation', 'External analysis'],
    form: /^CVE-[0-9]{4}-[0-9]{4,}$/,
  },
  btc: { categories: ['Financial fraud'], form: /^[a-zA-Z0-9]+$/ },
  regkey: {
    categories: ['Artifacts dropped', 'Persistence mechanism', 'External analysis'],
    form: /^[^\n]+$/,
  },
  mutex: { categories: ['Artifacts dropped'], form: /^[^\n]+$/ },
  filename: { categories: [...FILE, 'Persistence mechanism'], form: /^[^\n]+$/ },
  'user-agent': { categories: IOC, form: /^[^\n]+$/ },
  AS: { categories: IOC, form: /^[1-9][0-9]{0,9}$/ },
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SECONDS = /^\d{1,11}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
const TLP = /^tlp:(clear|green|amber|amber\+strict|red)$/;

/** Everything that MISP would refuse, drop or read as something else; empty: nothing. */
export function problemsOf(event: WrittenEvent): string[] {
  const attributes = event.Attribute;
  return [
    ...(UUID.test(event.uuid) ? [] : ['event uuid']),
    ...(SECONDS.test(event.timestamp) ? [] : ['event timestamp']),
    ...(/^\d{4}-\d\d-\d\d$/.test(event.date) ? [] : ['event date']),
    ...(event.published === attributes.length > 0 ? [] : ['published and empty']),
    ...tagProblems(event.Tag, attributes.length > 0 ? 1 : 0),
    ...repeated(attributes.map(({ uuid }) => uuid)),
    ...repeated(attributes.map(({ category, type, value }) => `${category} ${type} ${value}`)),
    ...attributes.flatMap((attribute) =>
      attributeProblems(attribute, event).map((problem) => `${problem}: ${JSON.stringify(attribute)}`),
    ),
  ];
}

function attributeProblems(attribute: MispAttribute, event: WrittenEvent): string[] {
  const { type, category, value } = attribute;
  return [
    ...(UUID.test(attribute.uuid) ? [] : ['uuid']),
    ...(TYPES[type]?.categories.includes(category) ? [] : ['category of another type']),
    ...(TYPES[type]?.form.test(value) && value === value.trim() ? [] : ['value']),
    ...(typeof attribute.to_ids === 'boolean' ? [] : ['to_ids']),
    ...(SECONDS.test(attribute.timestamp) ? [] : ['timestamp']),
    ...(Number(attribute.timestamp) <= Number(event.timestamp) ? [] : ['newer than its event']),
    ...(TIME.test(attribute.first_seen) && TIME.test(attribute.last_seen) ? [] : ['first or last seen']),
    ...(attribute.first_seen <= attribute.last_seen ? [] : ['last seen before first']),
    ...tagProblems(attribute.Tag, 1),
  ];
}

function tagProblems(tags: MispTag[], tlps: number): string[] {
  const names = tags.map(({ name }) => name);
  return [
    ...(names.filter((name) => TLP.test(name)).length === tlps ? [] : ['not one TLP']),
    ...(names.filter((name) => /^\s*tlp:/i.test(name)).length === tlps ? [] : ['another TLP']),
    ...(names.every((name) => name.trim() !== '' && Buffer.byteLength(name) <= 255) ? [] : ['tag length']),
    ...(tags.every(({ colour = '#000000' }) => /^#[0-9a-f]{6}$/i.test(colour)) ? [] : ['colour']),
    ...repeated(names),
  ];
}

function repeated(list: string[]): string[] {
  return list.filter((item, at) => list.indexOf(item) !== at).map((item) => `twice: ${item}`);
}
