import { inSnapshot } from '../db/database.ts';
import { listActors } from '../entities/actors/actors.queries.ts';
import { toAttribute } from '../entities/attributes.ts';
import {
  countReported,
  findReport,
  findReportAttributes,
  findReportsTitled,
} from '../entities/reports/reports.queries.ts';
import { listIndicators } from '../indicators/read/list.queries.ts';
import type { Scope } from '../model/account.ts';
import { isUuid } from '../model/uuid.ts';
import { type Caller, McpInputError, may, requireScopes } from './caller.ts';
import { actorId, completeActor } from './find-entity.ts';
import { actorUri, indicatorPart, reportUri } from './parts.ts';
import { label, NOTICE, prose, word } from './third-party.ts';
import { fitting, roomBeside } from './tool.ts';
import { actorProfile } from './tools/profiles.ts';

const MIME_TYPE = 'application/json';
/** Resources that a page of their list has of each kind. */
const LISTED = 50;
const MAX_REPORT = 10_000;
const MAX_ATTRIBUTE = 300;

interface Resource {
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

interface ResourceKind {
  uriTemplate: string;
  /** The name of the variable of the template. */
  variable: string;
  name: string;
  title: string;
  description: string;
  scopes: readonly Scope[];
  /** @param variable of the template, decoded. @throws {McpInputError} when there is no such object */
  read(variable: string, caller: Caller): Promise<object>;
  complete(typed: string, caller: Caller, most: number): Promise<string[]>;
}

const KINDS: readonly ResourceKind[] = [
  {
    uriTemplate: 'tipline://actors/{actor}',
    variable: 'actor',
    name: 'actor',
    title: 'Threat actor',
    description: 'The profile of an actor, by its id, name, alias or ATT&CK id; as actor_profile gives it.',
    scopes: ['actors:read'],
    read: async (actor, caller) => actorProfile(caller, await actorId(caller, actor), 0),
    complete: (typed, caller, most) => completeActor(caller, typed, most),
  },
  {
    uriTemplate: 'tipline://reports/{id}',
    variable: 'id',
    name: 'report',
    title: 'Report',
    description: 'A report by its id: its text, what it holds besides indicators, and its first indicators.',
    scopes: ['indicators:read'],
    read: (id, caller) => readReport(caller, id),
    // An id says nothing to a person: the list and the tools have the URIs.
    complete: async () => [],
  },
];

export const listTemplates = (caller: Caller) =>
  KINDS.filter(({ scopes }) => may(caller, scopes)).map(({ uriTemplate, name, title, description }) => ({
    uriTemplate,
    name,
    title,
    description,
    mimeType: MIME_TYPE,
  }));

/**
 * Returns a page of the resources: the latest reports on the first page, and actors by name.
 * @param cursor the number of the page
 * @throws {McpInputError} for another cursor
 */
export async function listResources(
  caller: Caller,
  cursor = '1',
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  if (!/^[1-9]\d{0,5}$/.test(cursor)) throw new McpInputError('cursor must be one that an answer had.');
  const page = Number(cursor);
  const { principal, data } = caller;
  const { read } = data.database;
  const reports =
    page === 1 && may(caller, ['indicators:read'])
      ? await read((db) => findReportsTitled(db, principal, '', LISTED))
      : [];
  const actors = may(caller, ['actors:read'])
    ? await read((db) => listActors(db, principal, {}, { page, pageSize: LISTED }))
    : { rows: [], total: 0 };
  const resources = [
    ...reports.map(({ id, title }) => resource(reportUri(id), title)),
    ...actors.rows.map(({ id, name }) => resource(actorUri(id), name)),
  ];
  return { resources, ...(page * LISTED < actors.total && { nextCursor: String(page + 1) }) };
}

const resource = (uri: string, name: string): Resource => ({
  uri,
  name: label(name),
  title: label(name),
  mimeType: MIME_TYPE,
});

/** Returns the content of a resource; null: there is none with this URI, or the caller may not see it. */
export async function readResource(caller: Caller, uri: string) {
  for (const kind of KINDS) {
    const variable = variableOf(kind, uri);
    if (variable === null) continue;
    requireScopes(caller, kind.scopes, `A resource of the kind ${kind.name}`);
    const found = await kind.read(variable, caller).catch((error: unknown) => {
      if (error instanceof McpInputError) return null;
      throw error;
    });
    return found && { uri, mimeType: MIME_TYPE, text: JSON.stringify({ notice: NOTICE, ...found }) };
  }
  return null;
}

/** Returns the value of the variable of a template that a URI has; null: the URI is not of the template. */
function variableOf({ uriTemplate, variable }: ResourceKind, uri: string): string | null {
  const prefix = uriTemplate.replace(`{${variable}}`, '');
  const rest = uri.startsWith(prefix) ? uri.slice(prefix.length) : '';
  if (rest === '' || rest.length > 600 || rest.includes('/')) return null;
  try {
    return decodeURIComponent(rest);
  } catch {
    return null;
  }
}

/** Returns completions for the variable of a template. */
export async function completeResource(
  caller: Caller,
  uriTemplate: string,
  variable: string,
  typed: string,
  most: number,
): Promise<string[]> {
  const kind = KINDS.find((one) => one.uriTemplate === uriTemplate && one.variable === variable);
  return kind && may(caller, kind.scopes) ? kind.complete(typed, caller, most) : [];
}

async function readReport(caller: Caller, id: string): Promise<object> {
  const { principal, data } = caller;
  const { read } = data.database;
  const parts = isUuid(id)
    ? await read((db) =>
        inSnapshot(db, async (snapshot) => {
          const report = await findReport(snapshot, principal, id.toLowerCase());
          return (
            report && {
              report,
              attributes: await findReportAttributes(snapshot, principal, report.id),
              counts: await countReported(snapshot, principal, report.id),
            }
          );
        }),
      )
    : undefined;
  if (!parts) throw new McpInputError('There is no such report.');
  const { report, attributes, counts } = parts;
  const filters = { reportId: report.id };
  const { rows } = await read((db) => listIndicators(db, principal, filters, { page: 1, pageSize: 5 }));
  const answer = {
    id: report.id,
    uri: reportUri(report.id),
    title: label(report.title),
    description: report.description === null ? null : prose(report.description, MAX_REPORT),
    url: report.url === null ? null : prose(report.url, 300),
    publishedAt: report.publishedAt?.toISOString() ?? null,
    authors: (report.authors ?? []).slice(0, 10).map(word),
    links: (report.links ?? []).slice(0, 10).map((link) => prose(link, 200)),
    tags: report.tags.slice(0, 15).map(word),
    tlp: report.tlp,
    confidence: report.confidence,
    source: label(report.source),
    attributeCount: counts.attributes,
    indicatorCount: counts.indicators,
    indicators: rows.map(indicatorPart),
  };
  const shown = attributes.map(toAttribute).map(({ type, value, description }) => ({
    type: word(type),
    value: prose(value, MAX_ATTRIBUTE),
    description: description === null ? null : prose(description, MAX_ATTRIBUTE),
  }));
  return { ...answer, attributes: fitting(shown, roomBeside(answer)) };
}
