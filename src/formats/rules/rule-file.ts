import { blockOf, groupSid, NUMBERS_WITH_SIDS, sidOf } from '../../model/identity.ts';
import { mostRestrictive } from '../../model/statement.ts';
import { type IndicatorType, SEVERITIES } from '../../model/vocabulary.ts';
import type { ExportFormat, ExportIndicator, ExportInfo } from '../format.ts';
import { listedBlocks } from '../listed-blocks.ts';
import type { Skipped, SkipReason } from '../skipped.ts';
import type { RuleDescription } from './rule-text.ts';

/** The rule language of an engine. */
export interface RuleLanguage {
  /** Name and version of the engine. */
  engine: string;
  /** Types that it compares besides those of all engines. */
  moreTypes?: readonly IndicatorType[];
  /**
   * Returns the rules, as lines with their ends, of an indicator that is not an address; none for a URL that is not
   * fetched by HTTP, or for the hash of a file.
   */
  rulesOf(row: ExportIndicator): string[];
  /**
   * Returns the rules for addresses of one family.
   * @param about describes the rule with this number, from 0 to 3
   */
  addressRules(
    family: 'IPV4' | 'IPV6',
    addresses: readonly string[],
    about: (rule: number) => RuleDescription,
  ): string;
}

/**
 * A rule inspects traffic: hashes would need a list file beside the rules, CVEs, mutexes and registry keys
 * are not on the wire, and file names, e-mail addresses, coins and AS numbers would alert on harmless
 * traffic.
 */
const TYPES: readonly IndicatorType[] = ['IPV4', 'IPV6', 'DOMAIN', 'URL', 'USER_AGENT'];
export const RULE_COLUMNS = [
  ...(['number', 'version', 'type', 'value', 'confidence', 'severity', 'tlp', 'source'] as const),
  ...(['firstSeen', 'lastSeen', 'ofCertificate', 'whitelistedParts'] as const),
];
const FAMILIES = ['IPV4', 'IPV6'] as const;

/** Whether Snort may read a value as `any`, even in a list, so that it would match all traffic: `0.0.0.0`, `::`, and networks that begin there. */
export const isAnyAddress = (value: string): boolean => /^(?:0\.0\.0\.0|::)(?:\/|$)/.test(value);

const PIECE_LENGTH = 65_536;

/**
 * Rules by ascending number. The addresses of a block of numbers share the rules for each family, even if there is only
 * one, so that the rules of an address have the same sids whatever else is exported. A network of which parts are
 * whitelisted has rules of its own.
 */
export function ruleFormat(language: RuleLanguage): ExportFormat {
  return {
    mediaType: 'text/plain; charset=utf-8',
    extension: 'rules',
    types: [...TYPES, ...(language.moreTypes ?? [])],
    detectionOnly: true,
    skipsValues: true,
    order: 'number',
    columns: RULE_COLUMNS,
    reads: { addressRules: true },
    async *write(batches, info, skipped) {
      yield `# Tipline: rules for ${language.engine}\n`;
      const blocks = groupedByBlock(language, info.addressRules);
      let text = '';
      for await (const batch of batches) {
        for (const row of batch) {
          text += blocks.before(row);
          if (!isAddress(row)) {
            const reason = row.type === 'URL' ? 'not-http' : 'file-hash';
            text += indicatorRules(row, language.rulesOf, skipped, reason).join('');
          } else if (isAnyAddress(row.value)) {
            skipped.add('any-address');
          } else if (row.whitelistedParts.length > 0) {
            text += partialNetworkRules(language, row, skipped);
          } else {
            blocks.add(row);
          }
          if (text.length < PIECE_LENGTH) continue;
          yield text;
          text = '';
        }
      }
      yield text + blocks.end() + skipped.comment('#');
    },
  };
}

/**
 * Collects the addresses of one block at a time; rows arrive by ascending number, so a block ends where
 * another begins.
 * @param changes when each rule last changed, by sid: nothing in a rule would show that it lost an address
 */
function groupedByBlock(language: RuleLanguage, changes: ExportInfo['addressRules']) {
  let current = 0;
  let rows: ExportIndicator[] = [];
  const end = () => {
    const text = rows.length === 0 ? '' : addressRules(language, rows, current, changes);
    rows = [];
    return text;
  };
  return {
    /** Returns the text that must precede the row, or anything of its block. */
    before({ number }: ExportIndicator): string {
      const block = blockOf(number);
      const text = block === current ? '' : end();
      current = block;
      return text;
    },
    add: (row: ExportIndicator) => rows.push(row),
    end,
  };
}

function isAddress({ type }: ExportIndicator): boolean {
  return type === 'IPV4' || type === 'IPV6';
}

/**
 * Returns the rules of an indicator that is not an address; none, which is counted, where no sids are left or no rule can match it.
 * @param unmatched why no rule can match it
 */
export function indicatorRules(
  row: ExportIndicator,
  rulesOf: RuleLanguage['rulesOf'],
  skipped: Skipped,
  unmatched: SkipReason,
): string[] {
  const hasSids = row.number < NUMBERS_WITH_SIDS;
  const rules = hasSids ? rulesOf(row) : [];
  if (rules.length === 0) skipped.add(hasSids ? unmatched : 'sid');
  else skipped.addParts(row.whitelistedParts.length);
  return rules;
}

/** The maximum length of the addresses of a rule; Suricata reads lines of up to 8,192 characters. */
const MAX_ADDRESSES = 6_000;

/** Returns the rules for a network without its whitelisted parts; '' if it has too many of them, or no sids are left. */
export function partialNetworkRules(
  language: Pick<RuleLanguage, 'addressRules'>,
  row: ExportIndicator,
  skipped: Skipped,
): string {
  if (row.number >= NUMBERS_WITH_SIDS) {
    skipped.add('sid');
    return '';
  }
  const blocks = listedBlocks(row, { addParts: () => {} }).filter((block) => !isAnyAddress(block));
  if (blocks.length > 0 && blocks.join().length <= MAX_ADDRESSES) {
    skipped.addParts(row.whitelistedParts.length);
    return language.addressRules(row.type as 'IPV4' | 'IPV6', blocks, (rule) => aboutIndicator(row, rule));
  }
  skipped.add('whitelisted-parts');
  return '';
}

function addressRules(
  language: RuleLanguage,
  block: readonly ExportIndicator[],
  number: number,
  changes: ExportInfo['addressRules'],
): string {
  let text = '';
  for (const family of FAMILIES) {
    const rows = block.filter(({ type }) => type === family);
    if (rows.length === 0) continue;
    const addresses = rows.map(({ value }) => value);
    const sid = groupSid(number, family);
    const rev = changes.get(sid) ?? 1;
    const about = aboutAddresses(family, rows, sid, rev);
    text += language.addressRules(family, addresses, (rule) => ({ ...about, sid: sid + rule }));
  }
  return text;
}

/**
 * Describes a group by the highest severity, the highest confidence and the most restrictive TLP of its
 * addresses.
 */
function aboutAddresses(
  family: (typeof FAMILIES)[number],
  rows: readonly ExportIndicator[],
  sid: number,
  rev: number,
): RuleDescription {
  const severities = rows.map(({ severity }) => SEVERITIES.indexOf(severity));
  return {
    subject: `${family} ${rows.length === 1 ? rows[0]?.value : `any of ${rows.length} addresses`}`,
    severity: SEVERITIES[Math.max(...severities)] ?? 'MEDIUM',
    confidence: Math.max(...rows.map(({ confidence }) => confidence)),
    tlp: mostRestrictive(rows.map(({ tlp }) => tlp)),
    sources: [...new Set(rows.map(({ source }) => source))].sort(),
    firstSeen: new Date(Math.min(...rows.map(({ firstSeen }) => Number(firstSeen)))),
    lastSeen: new Date(Math.max(...rows.map(({ lastSeen }) => Number(lastSeen)))),
    sid,
    rev,
  };
}

/**
 * Describes a single indicator for its rule.
 * @param slot 0 to 7: which of its rules
 * @param where such as `in DNS query`; '' where the type implies it
 */
export function aboutIndicator(row: ExportIndicator, slot: number, where = ''): RuleDescription {
  const { type, value, severity, confidence, tlp, source, firstSeen, lastSeen } = row;
  const subject = `${type} ${value}${where === '' ? '' : ` ${where}`}`;
  const sid = sidOf(row.number, slot);
  return {
    subject,
    severity,
    confidence,
    tlp,
    sources: [source],
    firstSeen,
    lastSeen,
    sid,
    rev: row.version,
  };
}
