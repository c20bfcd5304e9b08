import { Ajv2020 } from 'ajv/dist/2020.js';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const color = { type: 'string', pattern: '^#[0-9a-fA-F]{6}$' };
const object = (required: string[], properties: object) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});
/** Of values, or of lines between them. */
const listOf = (value: object) => ({
  type: 'array',
  minItems: 1,
  items: { anyOf: [value, object(['divider'], { divider: flag })] },
});
const metadata = listOf(object(['name', 'value'], { name: text, value: text }));
const links = listOf(
  object(['label', 'url'], { label: text, url: { type: 'string', pattern: '^https?://' } }),
);

/** A layer of the ATT&CK Navigator by the description of its format 4.5, for ATT&CK Enterprise. */
const LAYER = object(['name', 'domain'], {
  name: text,
  description: text,
  domain: { const: 'enterprise-attack' },
  versions: object(['navigator', 'layer'], {
    attack: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
    navigator: { type: 'string', pattern: '^(4\\.9|4\\.[1-9]\\d|[5-9]\\.\\d+)\\.\\d+$' },
    layer: { const: '4.5' },
  }),
  filters: object([], { platforms: { type: 'array', items: text } }),
  sorting: { enum: [0, 1, 2, 3] },
  hideDisabled: flag,
  techniques: {
    type: 'array',
    items: object(['techniqueID'], {
      techniqueID: { type: 'string', pattern: '^T\\d{4}(\\.\\d{3})?$' },
      tactic: { type: 'string', pattern: '^[a-z]+(-[a-z]+)*$' },
      comment: text,
      enabled: flag,
      score: { type: 'number' },
      color,
      metadata,
      links,
      showSubtechniques: flag,
    }),
  },
  gradient: object(['colors', 'minValue', 'maxValue'], {
    colors: { type: 'array', minItems: 2, items: color },
    minValue: { type: 'number' },
    maxValue: { type: 'number' },
  }),
  legendItems: { type: 'array', items: object(['label', 'color'], { label: text, color }) },
  showTacticRowBackground: flag,
  tacticRowBackground: color,
  selectTechniquesAcrossTactics: flag,
  selectSubtechniquesWithParent: flag,
  selectVisibleTechniques: flag,
  metadata,
  links,
});

interface Layer {
  techniques: { techniqueID: string; tactic?: string; showSubtechniques?: boolean }[];
  gradient: { minValue: number; maxValue: number };
}

/** Returns what the description of the format says against a layer; empty: nothing. */
export function layerProblems(value: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true }).compile<Layer>(LAYER);
  if (!validate(value))
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  const { techniques, gradient } = value;
  const places = techniques.map(({ techniqueID, tactic }) => `${techniqueID} ${tactic}`);
  const problems = gradient.maxValue > gradient.minValue ? [] : ['the gradient is empty'];
  for (const [at, { techniqueID, tactic, showSubtechniques }] of techniques.entries()) {
    const place = `${techniqueID} ${tactic}`;
    if (places.indexOf(place) < at) problems.push(`twice: ${place}`);
    if (tactic !== undefined && places.includes(`${techniqueID} undefined`))
      problems.push(`with and without a tactic: ${techniqueID}`);
    if (showSubtechniques && !techniques.some((other) => other.techniqueID.startsWith(`${techniqueID}.`)))
      problems.push(`no sub-techniques: ${techniqueID}`);
  }
  return problems;
}
