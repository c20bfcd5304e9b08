import { type Static, Type } from 'typebox';

const Link = Type.Object({
  label: Type.String({ description: 'Its text.' }),
  url: Type.String({ description: 'Its address.' }),
});

const LayerTechnique = Type.Object({
  techniqueID: Type.String({ description: 'ATT&CK id, such as T1059 or T1059.001.' }),
  tactic: Type.Optional(
    Type.String({
      description: 'The short name of the tactic; absent: the entry is for every tactic of the technique.',
    }),
  ),
  score: Type.Optional(
    Type.Integer({
      description:
        'Of an actor or campaign 100: used. Of a feed how many of its actors and campaigns use it. Of the Sigma rules how many there are for it. Absent: the entry is the parent of an entered sub-technique.',
    }),
  ),
  comment: Type.Optional(Type.String({ description: 'Who uses it, or where the rules are from.' })),
  enabled: Type.Boolean({ description: 'Always true.' }),
  links: Type.Optional(Type.Array(Link, { minItems: 1, description: 'The page of the technique at MITRE.' })),
  showSubtechniques: Type.Optional(
    Type.Boolean({
      description: 'True: the layer has sub-techniques of it, which the Navigator then shows.',
    }),
  ),
});

export const NavigatorLayer = Type.Object(
  {
    name: Type.String({ description: 'The name of the actor, campaign or feed, or of the rules.' }),
    versions: Type.Object(
      {
        navigator: Type.String({ description: 'The first version of the Navigator that reads the format.' }),
        layer: Type.String({ description: 'The version of the format.' }),
      },
      {
        description:
          'Without the version of ATT&CK, because sources do not state theirs: the Navigator takes its latest.',
      },
    ),
    domain: Type.String({ description: 'Always enterprise-attack.' }),
    description: Type.Optional(
      Type.String({ description: 'What its source says of the actor or campaign, or what the layer has.' }),
    ),
    hideDisabled: Type.Boolean({ description: 'Always false.' }),
    techniques: Type.Array(LayerTechnique, {
      description:
        'By id; one entry for each tactic of a technique, or one without a tactic if a tactic is not known or not part of every version of ATT&CK.',
    }),
    gradient: Type.Object(
      {
        colors: Type.Array(Type.String(), { description: 'From the minimum to the maximum.' }),
        minValue: Type.Integer({ description: 'The lowest score.' }),
        maxValue: Type.Integer({ description: 'The highest score.' }),
      },
      { description: 'The colours of the scores.' },
    ),
    legendItems: Type.Array(
      Type.Object({
        label: Type.String({ description: 'Its text.' }),
        color: Type.String({ description: 'Its colour.' }),
      }),
      { description: 'The legend.' },
    ),
    links: Type.Optional(Type.Array(Link, { minItems: 1, description: 'The page of the group at MITRE.' })),
  },
  {
    $id: 'NavigatorLayer',
    description: 'A layer of the ATT&CK Navigator, format 4.5.',
    examples: [
      {
        name: 'APT28',
        versions: { navigator: '4.9.0', layer: '4.5' },
        domain: 'enterprise-attack',
        description: 'APT28 is a threat group that has been active since at least 2004.',
        hideDisabled: false,
        techniques: [
          {
            techniqueID: 'T1003',
            tactic: 'credential-access',
            score: 100,
            comment: 'Used by APT28',
            enabled: true,
            links: [{ label: 'T1003 at MITRE ATT&CK', url: 'https://attack.mitre.org/techniques/T1003/' }],
          },
        ],
        gradient: { colors: ['#ffffff', '#ff6666'], minValue: 0, maxValue: 100 },
        legendItems: [{ label: 'Used', color: '#ff6666' }],
        links: [{ label: 'G0007 at MITRE ATT&CK', url: 'https://attack.mitre.org/groups/G0007/' }],
      },
    ],
  },
);

export type NavigatorLayerAnswer = Static<typeof NavigatorLayer>;
export type LayerTechniqueAnswer = Static<typeof LayerTechnique>;
