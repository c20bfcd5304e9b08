import { describe, expect, it } from 'vitest';
import { convertRule, type QueryLanguage } from '../../../src/sigma/conversion/convert.ts';
import { Unconvertible } from '../../../src/sigma/conversion/unconvertible.ts';

/** Returns the last condition of the query of one comparison, or the reason why there is none. */
function condition(language: QueryLanguage, source: string, key: string, value: unknown): string {
  const [product = '', category = '', service = ''] = source.split('/');
  const logsource = { product, category, service };
  try {
    const { query } = convertRule(
      { logsource, detection: { a: { [key]: value }, condition: 'a' } },
      language,
    );
    return query.split(/\n(?:\| where|\| WHERE| {2}AND) /).at(-1) ?? '';
  } catch (error) {
    if (error instanceof Unconvertible) return error.reason;
    throw error;
  }
}

const KEY = 'iff(isempty(RegistryValueName), RegistryKey, strcat(RegistryKey, "\\\\", RegistryValueName))';

describe('a field of a product', () => {
  it.each<[string, QueryLanguage, string, string, unknown, string]>([
    [
      'has registry hives in full and the current set of controls',
      'defender-kql',
      'windows/registry_set',
      'TargetObject|startswith',
      'HKLM\\System\\CurrentControlSet\\Services\\',
      `${KEY} startswith "HKEY_LOCAL_MACHINE\\\\System\\\\CurrentControlSet\\\\Services\\\\" or ` +
        `${KEY} startswith "HKEY_LOCAL_MACHINE\\\\System\\\\ControlSet001\\\\Services\\\\"`,
    ],
    [
      'has decimal numbers',
      'defender-kql',
      'windows/registry_set',
      'Details',
      'DWORD (0x0000000a)',
      'RegistryValueData =~ "10"',
    ],
    [
      'has decimal numbers',
      'elastic-lucene',
      'windows/registry_set',
      'Details',
      'QWORD (0x00000001-0x00000000)',
      'host.os.type:"windows" AND ((event.category:"registry" AND event.code:"13") OR (event.category:"registry" AND event.action:"modification")) AND registry.data.strings:"4294967296"',
    ],
    [
      'has numbers as each collector writes them',
      'sentinel-kql',
      'windows/registry_set',
      'Details',
      'DWORD (0x00000001)',
      'RegistryValueData in~ ("DWORD (0x00000001)", "1")',
    ],
    ['has no part of a number', 'defender-kql', 'windows/registry_set', 'Details|contains', 'DWORD', 'value'],
    [
      'has other texts as they are',
      'defender-kql',
      'windows/registry_set',
      'Details|re',
      '^a',
      'RegistryValueData matches regex "^a"',
    ],
    [
      'has no regular expression of hives',
      'defender-kql',
      'windows/registry_set',
      'TargetObject|re',
      '^HKLM',
      'value',
    ],
    [
      'has outgoing connections only',
      'defender-kql',
      'windows/network_connection',
      'Initiated',
      false,
      'value',
    ],
    [
      'has directions',
      'sentinel-kql',
      'windows/network_connection',
      'Initiated',
      'true',
      'NetworkDirection =~ "Outbound"',
    ],
    [
      'has numbers without quotes',
      'sentinel-kql',
      'windows/network_connection',
      'DestinationPort',
      443,
      'DstPortNumber == 443',
    ],
    [
      'has no wildcards in numbers',
      'sentinel-kql',
      'windows/network_connection',
      'DestinationPort|startswith',
      44,
      'value',
    ],
    [
      'has no wildcards in addresses',
      'elastic-lucene',
      'windows/network_connection',
      'DestinationIp|startswith',
      '10.',
      'value',
    ],
    [
      'has addresses in networks apart from their text',
      'elastic-esql',
      'aws//cloudtrail',
      'sourceIPAddress|cidr',
      '10.0.0.0/8',
      'CIDR_MATCH(source.ip, "10.0.0.0/8")',
    ],
    [
      'has structures',
      'sentinel-kql',
      'aws//cloudtrail',
      'requestParameters.x-amz-acl',
      'a',
      'tostring(parse_json(RequestParameters)["x-amz-acl"]) =~ "a"',
    ],
    [
      'has no lists in structures',
      'sentinel-kql',
      'aws//cloudtrail',
      'requestParameters.add.items.group',
      'a',
      'field',
    ],
    [
      'has elements of lists',
      'splunk-spl',
      'aws//cloudtrail',
      'requestParameters.add.items.group',
      'a',
      'sourcetype="aws:cloudtrail" "requestParameters.add.items{}.group"="a"',
    ],
    [
      'has flattened structures',
      'elastic-lucene',
      'aws//cloudtrail',
      'requestParameters.add.items.group',
      'a',
      'event.dataset:"aws.cloudtrail" AND aws.cloudtrail.flattened.request_parameters.add.items.group:"a"',
    ],
    [
      'has no flattened structures',
      'elastic-esql',
      'aws//cloudtrail',
      'requestParameters.add.items.group',
      'a',
      'field',
    ],
    [
      'has hashes by algorithm',
      'elastic-esql',
      'windows/image_load',
      'Hashes|contains',
      `IMPHASH=${'AB'.repeat(16)}`,
      `TO_LOWER(file.pe.imphash) == "${'ab'.repeat(16)}"`,
    ],
    [
      'has no such hash',
      'defender-kql',
      'windows/image_load',
      'Hashes|contains',
      `IMPHASH=${'AB'.repeat(16)}`,
      'field',
    ],
    ['has no part of a hash', 'defender-kql', 'windows/image_load', 'Hashes|contains', 'SHA256=AB', 'value'],
    ['has the events of its table', 'defender-kql', 'windows/process_creation', 'EventID', 3, 'never'],
    [
      'is one of an inherited property',
      'defender-kql',
      'windows/process_creation',
      'constructor',
      'x',
      'field',
    ],
    [
      'has ranges of numbers',
      'elastic-lucene',
      '/proxy',
      'sc-status|gte',
      500,
      'http.response.status_code:>=500',
    ],
    ['has no ranges of what may be no number', 'elastic-lucene', 'example', 'a|gte', 500, 'value'],
    ['is one of an unknown log source', 'elastic-lucene', 'example', 'a.b', 'x', 'a.b:"x"'],
    ['is one of an unknown log source', 'elastic-esql', 'example', 'a.b', 'x', 'logsource'],
    ['is one of an inherited log source', 'sentinel-kql', 'windows/constructor', 'a', 'x', 'logsource'],
  ])('%s: %s, %s, %s: %j', (_, language, source, key, value, expected) => {
    expect(condition(language, source, key, value)).toBe(expected);
  });
});
