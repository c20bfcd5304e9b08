import { csvFormat } from '../../formats/csv.ts';
import { ecsFormat } from '../../formats/ecs.ts';
import type { ExportFormat, ExportOptions, TxtStyle } from '../../formats/format.ts';
import { mispFormat } from '../../formats/misp.ts';
import { ndjsonFormat } from '../../formats/ndjson.ts';
import { rpzFormat } from '../../formats/rpz.ts';
import { snortFormat } from '../../formats/snort.ts';
import { stixFormat } from '../../formats/stix.ts';
import { suricataFormat } from '../../formats/suricata.ts';
import { txtFormat } from '../../formats/txt.ts';
import { zeekFormat } from '../../formats/zeek.ts';

/** The export formats by name: the contract's in its order, then ours. */
const FORMATS = {
  csv: csvFormat,
  stix: stixFormat,
  misp: mispFormat,
  snort: snortFormat,
  zeek: zeekFormat,
  suricata: suricataFormat,
  txt: txtFormat,
  rpz: rpzFormat,
  ndjson: ndjsonFormat,
  ecs: ecsFormat,
} satisfies Record<string, (options: ExportOptions) => ExportFormat>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as [FormatName, ...FormatName[]];

export const DEFAULT_OPTIONS: ExportOptions = { csvGuard: true, style: 'plain', context: false };

export function formatOf(name: FormatName, options: ExportOptions): ExportFormat {
  return FORMATS[name](options);
}

/** What tells it from other formats and other options. */
export function variantOf(name: FormatName, options: ExportOptions): string {
  return JSON.stringify([name, options]);
}

/** Which formats an option means something to. */
const OPTION_FORMATS: Record<string, readonly string[]> = {
  csvGuard: ['csv'],
  style: ['txt'],
  include: ['stix', 'misp'],
};

export interface GivenOptions {
  csvGuard?: 'on' | 'off' | undefined;
  style?: TxtStyle | undefined;
  include?: 'context' | undefined;
}

/** An option that means nothing to the format is a mistake: who gives it believes that it does. */
export function optionsFor(format: string, given: GivenOptions): ExportOptions | { wrong: string } {
  for (const [name, value] of Object.entries(given)) {
    const formats = OPTION_FORMATS[name] ?? [];
    if (value === undefined || formats.includes(format)) continue;
    return { wrong: `${name} is for format ${formats.join(' or ')} only.` };
  }
  return {
    csvGuard: given.csvGuard !== 'off',
    style: given.style ?? DEFAULT_OPTIONS.style,
    context: given.include === 'context',
  };
}
