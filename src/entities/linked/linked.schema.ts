import { type Static, Type } from 'typebox';
import { dateTime, listOf, nullable, score, tlp } from '../../http/schema.ts';

const Technique = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Its id here.' }),
    attackId: nullable(
      Type.String({ description: 'ATT&CK id, such as T1003 or T1059.001; null: it has none.' }),
    ),
    name: Type.String({ description: 'The name.' }),
    description: nullable(Type.String({ description: 'What its source says of it.' })),
    tactics: Type.Array(Type.String(), {
      description: 'ATT&CK tactics by their short names, such as credential-access.',
    }),
    confidence: score({ description: 'The confidence of its source, 0 to 100.' }),
    tlp: tlp(),
  },
  {
    $id: 'Technique',
    description: 'A technique that an actor or a campaign uses.',
    examples: [
      {
        id: '0a3ead4e-6d47-4ccb-854c-a6a4f9d96b22',
        attackId: 'T1003',
        name: 'OS Credential Dumping',
        description: null,
        tactics: ['credential-access'],
        confidence: 75,
        tlp: 'CLEAR',
      },
    ],
  },
);

const Report = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Its id here.' }),
    title: Type.String({ description: 'The title.' }),
    slug: Type.String({ description: 'The title in lower case, digits and hyphens.' }),
    description: nullable(Type.String({ description: 'Its text.' })),
    url: nullable(Type.String({ description: 'Its address.' })),
    publishedAt: nullable(dateTime({ description: 'When it was published; null: not known.' })),
    tags: Type.Array(Type.String(), { description: 'Free text of the sources, sorted.' }),
    authors: Type.Array(Type.String(), { description: 'Persons and organisations.' }),
    links: Type.Array(Type.String(), { description: 'Addresses that it gives.' }),
    confidence: score({ description: 'The confidence of its source, 0 to 100.' }),
    tlp: tlp(),
  },
  {
    $id: 'Report',
    description: 'A report that refers to an actor or a campaign.',
    examples: [
      {
        id: '13ff5148-84db-4cbf-826f-3f0c2a721b69',
        title: 'ATOM Campaign Report',
        slug: 'atom-campaign-report',
        description: null,
        url: null,
        publishedAt: '2023-04-04T19:04:09.639Z',
        tags: ['campaign'],
        authors: [],
        links: [],
        confidence: 75,
        tlp: 'CLEAR',
      },
    ],
  },
);

export const TechniqueList = listOf(Technique, 'TechniqueList');
export const ReportList = listOf(Report, 'ReportList');
export type TechniqueAnswer = Static<typeof Technique>;
export type ReportAnswer = Static<typeof Report>;

export const LINKED_SCHEMAS = [Technique, TechniqueList, Report, ReportList];
