import { Type } from 'typebox';

/** MISP defines these formats; the schemas describe what clients need for orientation. */
export const MispManifest = Type.Object(
  {},
  {
    $id: 'MispManifest',
    additionalProperties: true,
    description: 'manifest.json of a MISP feed: what MISP shows of an event, by the event’s uuid.',
    examples: [
      {
        'c3bc72fb-38cc-5926-9cb5-08bb29533f02': {
          info: 'Tipline: indicators 0 to 1999',
          date: '2026-08-23',
          timestamp: '1795523178',
          threat_level_id: '4',
          analysis: '2',
          Orgc: { name: 'Tipline', uuid: 'b481c7f0-7328-4f19-bb9e-cfdbe994d43d' },
          Tag: [{ name: 'tlp:clear', colour: '#ffffff' }],
        },
      },
    ],
  },
);

export const MispEvent = Type.Object(
  {
    Event: Type.Object(
      {
        uuid: Type.String({ description: 'Equal requests have equal ids.' }),
        info: Type.String({ description: 'What the event is about.' }),
        Attribute: Type.Array(Type.Object({}, { additionalProperties: true }), {
          description: 'The indicators, as MISP’s attributes.',
        }),
      },
      { additionalProperties: true, description: 'The event, with whatever else MISP’s core format has.' },
    ),
  },
  {
    $id: 'MispEvent',
    description: 'An event in MISP’s core format.',
    examples: [
      {
        Event: {
          uuid: '3cfa62f1-6628-5765-a93b-f56f69e8db5d',
          info: 'Tipline: q=185.132.17.160',
          date: '2026-08-23',
          timestamp: '1795523179',
          threat_level_id: '4',
          analysis: '2',
          published: true,
          distribution: '0',
          Attribute: [
            {
              type: 'ip-dst',
              category: 'Network activity',
              to_ids: true,
              uuid: '98471873-9c5a-573a-b43a-2b4a998ff9bf',
              timestamp: '1795523106',
              value: '185.132.17.160',
              Tag: [{ name: 'tlp:clear', colour: '#ffffff' }],
            },
          ],
        },
      },
    ],
  },
);
