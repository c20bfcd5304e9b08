import { Type } from 'typebox';

/** Their form is MISP's: described here by name alone. */
export const MispManifest = Type.Object(
  {},
  {
    $id: 'MispManifest',
    additionalProperties: true,
    description: 'manifest.json of a MISP feed: what MISP shows of an event, by the event’s uuid.',
  },
);

export const MispEvent = Type.Object(
  {},
  { $id: 'MispEvent', additionalProperties: true, description: 'An event in MISP’s core format.' },
);
