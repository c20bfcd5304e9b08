import type { ExportFormat, ExportIndicator, ExportInfo } from './format.ts';
import { listedBlocks } from './listed-blocks.ts';
import { filesByType, listFile, type RowsOf, ruleTexts } from './rules/rows-by-type.ts';
import { isAnyAddress, RULE_COLUMNS } from './rules/rule-file.ts';
import type { Skipped } from './skipped.ts';
import { type ArchiveFile, zipArchive } from './zip.ts';

const BLOCKLIST = 'tipline.blocklist';

/** Events of the inspector `reputation` (generator 136): an address of the block list is the source, or the destination. */
const EVENTS = [1, 4]
  .map((event) => `alert (msg:"Tipline address in a list"; gid:136; sid:${event}; rev:1;)\n`)
  .join('');

const TYPES = ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'USER_AGENT'] as const;

/**
 * An archive for Snort 3 with a block list for its inspector `reputation`, which compares addresses without rules, and
 * the rules of all other types.
 * @param rulesOf returns the rules of an indicator that is not an address
 */
export function reputationFormat(rulesOf: (row: ExportIndicator) => string[]): ExportFormat {
  return {
    mediaType: 'application/zip',
    extension: 'zip',
    types: TYPES,
    detectionOnly: true,
    skipsValues: true,
    order: 'type',
    columns: RULE_COLUMNS,
    reads: {},
    write: (batches, _info: ExportInfo, skipped) =>
      zipArchive(
        'rules/',
        filesByType(batches, (of) => files(of, skipped)),
      ),
  };

  async function* files(of: RowsOf, skipped: Skipped): AsyncGenerator<ArchiveFile> {
    const addressLine = (row: ExportIndicator) => {
      if (!isAnyAddress(row.value)) return listedBlocks(row, skipped).join('\n').concat('\n');
      skipped.add('any-address');
      return '';
    };
    let hasAddresses = false;
    for await (const file of listFile(BLOCKLIST, of('IPV4', 'IPV6'), addressLine)) {
      hasAddresses = true;
      yield file;
    }
    yield { name: 'tipline.rules', pieces: allRules() };
    if (hasAddresses) yield { name: 'tipline.lua', pieces: configuration() };

    async function* allRules() {
      yield '# Tipline: rules for Snort 3\n';
      if (hasAddresses) yield EVENTS;
      yield* ruleTexts(of('DOMAIN', 'URL', 'USER_AGENT'), rulesOf, skipped);
    }
  }
}

async function* configuration() {
  yield `-- Include this file in snort.lua. In inline mode Snort blocks the addresses.\nreputation = { blocklist = '${BLOCKLIST}' }\n`;
}
