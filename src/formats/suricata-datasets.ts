import { isBlock } from '../model/address-ranges.ts';
import { verdictOf } from '../model/confidence.ts';
import { LIST_SIDS } from '../model/identity.ts';
import { type ExportFormat, type ExportIndicator, type ExportInfo, indicatorPage } from './format.ts';
import { listedBlocks } from './listed-blocks.ts';
import { includesNamesBelow } from './listed-names.ts';
import { filesByType, listFile, type RowsOf, ruleTexts } from './rules/rows-by-type.ts';
import { indicatorRules, isAnyAddress, RULE_COLUMNS } from './rules/rule-file.ts';
import { Skipped } from './skipped.ts';
import { type ArchiveFile, zipArchive } from './zip.ts';

/** suricata-update looks for lists of hashes in this directory, and for others beside the rules. */
const DIRECTORY = 'rules/';

/** How many labels a name may have below a listed one; each depth is one rule. */
const MAX_DEPTH = 4;

/** The sets may have millions of entries: the memory is a limit, the hash size is the most that Suricata 8 allows by default. */
const SET_SIZE = 'memcap 2gb,hashsize 65536';

/** Where names occur, and what may follow a name there: clients send a dot at the end of a host as they got it. */
const NAME_BUFFERS = [
  { protocol: 'dns', buffer: 'dns.query; to_lowercase', end: '', where: 'in DNS query', conditions: [] },
  {
    protocol: 'tls',
    buffer: 'tls.sni; to_lowercase',
    end: '',
    where: 'in TLS SNI',
    conditions: ['flow:established,to_server'],
  },
  {
    protocol: 'http',
    buffer: 'http.host; to_lowercase',
    end: '\\.?',
    where: 'in HTTP host',
    conditions: ['flow:established,to_server'],
  },
] as const;

const HASH_LISTS = [
  { type: 'MD5', keyword: 'filemd5', file: 'tipline.md5' },
  { type: 'SHA1', keyword: 'filesha1', file: 'tipline.sha1' },
  { type: 'SHA256', keyword: 'filesha256', file: 'tipline.sha256' },
] as const;

/** Protocols in which Suricata follows files. */
const FILE_PROTOCOLS = ['http', 'smtp', 'ftp-data', 'smb', 'nfs'] as const;

/** The category of all addresses in the reputation list. */
const CATEGORY = 1;
/** Not active, because it needs `reputation-categories-file` and `reputation-files` in suricata.yaml. */
const REPUTATION_RULE = `# ${rule('alert ip any any -> any any', 'address with a reputation', ['iprep:any,Tipline,>,70', LIST_SIDS.address + 2])}`;

/** The order of the files in the archive: rules come last, because those of single indicators follow from the lists. */
const TYPES = ['DOMAIN', 'IPV4', 'IPV6', 'MD5', 'SHA1', 'SHA256', 'URL', 'USER_AGENT'] as const;

interface Options {
  /** Lists for Suricata 8, whose alerts have confidence, verdict and link of the indicator. */
  ndjson: boolean;
  publicAddress: string | null;
  /** Returns the rules of an indicator that is in no list. */
  rulesOf(row: ExportIndicator): string[];
  /** Returns the rules of a network. */
  networkRules(row: ExportIndicator, skipped: Skipped): string;
}

/**
 * An archive for Suricata with lists of names, addresses, hashes and JA3 fingerprints, and the rules that read them. URLs,
 * user agents, certificates, public suffixes and domains with whitelisted names below them have rules of their own.
 */
export function datasetsFormat({ ndjson, publicAddress, rulesOf, networkRules }: Options): ExportFormat {
  return {
    mediaType: 'application/zip',
    extension: 'zip',
    types: TYPES,
    detectionOnly: true,
    skipsValues: true,
    order: 'type',
    columns: [...RULE_COLUMNS, ...(ndjson ? (['id', 'score'] as const) : [])],
    reads: { ja3: true, scores: ndjson },
    write: (batches, info, skipped) =>
      zipArchive(
        DIRECTORY,
        filesByType(batches, (of) => files(of, info, skipped)),
      ),
  };

  async function* files(of: RowsOf, { ja3 }: ExportInfo, skipped: Skipped): AsyncGenerator<ArchiveFile> {
    const extension = ndjson ? 'ndjson' : 'lst';
    const rules: string[] = [];
    /** Rules of indicators that no list can hold. */
    const single: string[] = [];
    const names = set('tipline-names', 'string', `tipline-names.${extension}`);
    const nameLine = (row: ExportIndicator) => {
      if (includesNamesBelow(row)) return listed(row, row.value);
      single.push(...indicatorRules(row, rulesOf, skipped, 'public-suffix'));
      return '';
    };
    for await (const file of listFile(names.file, of('DOMAIN'), nameLine)) {
      rules.push(...nameRules(names));
      yield file;
    }
    const addresses = set('tipline-addresses', 'ip', `tipline-addresses.${extension}`);
    const reputation: string[] = [];
    const addressLine = (row: ExportIndicator) => {
      if (isAnyAddress(row.value)) {
        skipped.add('any-address');
        return '';
      }
      // Scores are 1 to 127.
      const score = Math.max(1, row.confidence);
      if (!ndjson)
        for (const block of listedBlocks(row, skipped)) reputation.push(`${block},${CATEGORY},${score}\n`);
      // A set compares single addresses.
      if (isBlock(row.value)) {
        single.push(networkRules(row, ndjson ? skipped : NOT_COUNTED));
        return '';
      }
      return ndjson ? listed(row, row.value) : `${row.value}\n`;
    };
    for await (const file of listFile(addresses.file, of('IPV4', 'IPV6'), addressLine)) {
      rules.push(...addressRules(addresses));
      yield file;
    }
    if (reputation.length > 0) {
      rules.push(REPUTATION_RULE);
      yield {
        name: 'tipline-categories.txt',
        pieces: once(`${CATEGORY},Tipline,Indicators of Tipline\n`),
      };
      yield { name: 'tipline-reputation.list', pieces: once(reputation.join('')) };
    }
    for (const [index, { type, keyword, file: name }] of HASH_LISTS.entries()) {
      const hashLine = (row: ExportIndicator) => {
        if (!row.ofCertificate) return `${row.value}\n`;
        single.push(...indicatorRules(row, rulesOf, skipped, 'certificate'));
        return '';
      };
      for await (const file of listFile(name, of(type), hashLine)) {
        rules.push(...fileRules(keyword, name, index));
        yield file;
      }
    }
    if (ja3.length > 0) {
      const fingerprints = { ...set('tipline-ja3', 'string', 'tipline-ja3.lst'), isPlain: true };
      rules.push(
        rule('alert tls $HOME_NET any -> any any', 'JA3 fingerprint in a list', [
          `ja3.hash; ${inSet(fingerprints)}`,
          LIST_SIDS.ja3,
        ]),
      );
      yield { name: fingerprints.file, pieces: once(ja3.map((hash) => `${base64(hash)}\n`).join('')) };
    }
    yield { name: 'tipline.rules', pieces: allRules() };

    async function* allRules() {
      yield `# Tipline: rules for Suricata ${ndjson ? '8' : '7 and newer'}, and the lists that they read\n`;
      yield rules.join('') + single.join('');
      yield* ruleTexts(of('URL', 'USER_AGENT'), rulesOf, skipped);
    }
  }

  /** A line of a list. */
  function listed(row: ExportIndicator, value: string): string {
    if (!ndjson) return `${base64(value)}\n`;
    const { confidence, severity, source } = row;
    return `${JSON.stringify({
      value,
      confidence,
      severity: severity.toLowerCase(),
      verdict: verdictOf(row.score),
      source,
      ...(publicAddress !== null && { url: indicatorPage(publicAddress, row.id) }),
    })}\n`;
  }

  function set(name: string, type: 'string' | 'ip', file: string) {
    return { name, type, file, isPlain: !ndjson };
  }
}

/** Counts nothing: the same parts have been counted for another file of the archive. */
const NOT_COUNTED = Object.assign(new Skipped(), { addParts: () => {} });

/** Addresses alert once a flow: a condition on an address alone would match every packet. */
function addressRules(addresses: SetOfValues): string[] {
  return ['ip.dst', 'ip.src'].map((buffer, index) =>
    rule('alert ip any any -> any any', 'address in a list', [
      `${buffer}; ${inSet(addresses)}`,
      'flowbits:isnotset,tipline.address',
      'flowbits:set,tipline.address',
      LIST_SIDS.address + index,
    ]),
  );
}

interface SetOfValues {
  name: string;
  type: 'string' | 'ip';
  file: string;
  isPlain: boolean;
}

function inSet({ name, type, file, isPlain }: SetOfValues): string {
  const format = isPlain ? '' : ',format ndjson,context_key tipline,value_key value';
  return `dataset:isset,${name},type ${type},load ${file}${format},${SET_SIZE}`;
}

/**
 * A set holds names exactly. The names below them are found by removing labels: the dot that `dotprefix` puts in front
 * keeps a name with fewer labels, which the expression does not change, from being in the set.
 */
function nameRules(names: SetOfValues): string[] {
  return NAME_BUFFERS.flatMap(({ protocol, buffer, end, where, conditions }, place) =>
    Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => {
      const labels = depth === 0 ? '' : `(?:\\.[^.]+){${depth}}\\.`;
      const transform = `pcrexform:"^${labels}(.+?)${end}$"; `;
      const parent = depth === 0 ? (end === '' ? '' : transform) : `dotprefix; ${transform}`;
      return rule(`alert ${protocol} $HOME_NET any -> any any`, `domain in a list, ${where}`, [
        ...conditions,
        `${buffer}; ${parent}${inSet(names)}`,
        'target:src_ip',
        LIST_SIDS.name + place * (MAX_DEPTH + 1) + depth,
      ]);
    }),
  );
}

function fileRules(keyword: string, file: string, index: number): string[] {
  return FILE_PROTOCOLS.map((protocol, place) =>
    rule(`alert ${protocol} any any -> any any`, 'file hash in a list', [
      `${keyword}:${file}`,
      LIST_SIDS.file + index * FILE_PROTOCOLS.length + place,
    ]),
  );
}

/** @param parts the conditions, then the sid. The text of a rule does not depend on the indicators: `rev` stays. */
function rule(header: string, subject: string, parts: readonly (string | number)[]): string {
  const conditions = parts.slice(0, -1);
  return `${header} (msg:"Tipline ${subject}"; ${conditions.join('; ')}; classtype:trojan-activity; sid:${parts.at(-1)}; rev:1;)\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function* once(text: string) {
  yield text;
}
