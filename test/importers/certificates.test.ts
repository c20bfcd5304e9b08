import { describe, expect, it } from 'vitest';
import { createImporter, recognizeFormat } from '../../src/importers/recognize.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const SHA1 = '16efcaa97a0174bdd36aca2f542e9675b090151b';
const COLONS = SHA1.toUpperCase().replace(/..(?=.)/g, '$&:');
const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';
const UUID = '00000000-0000-4000-8000-000000000001';

const SSLBL = `################################################################
# abuse.ch SSLBL SSL Certificate Blacklist (SHA1 Fingerprints) #
################################################################
#
# Listingdate,SHA1,Listingreason
2014-05-04 08:09:56,${SHA1},KINS C&C
`;
const FILES: Record<string, string> = {
  'a list of abuse.ch': SSLBL,
  'a CSV file with a type': `type,value\nx509-fingerprint-sha1,${COLONS}\n`,
  'a MISP event': JSON.stringify({
    Event: {
      uuid: UUID,
      info: 'x',
      Attribute: [{ uuid: UUID, type: 'x509-fingerprint-sha1', value: COLONS, to_ids: true }],
    },
  }),
  'a STIX pattern': JSON.stringify({
    type: 'bundle',
    id: `bundle--${UUID}`,
    objects: [
      {
        type: 'indicator',
        id: `indicator--${UUID}`,
        pattern_type: 'stix',
        pattern: `[x509-certificate:hashes.'SHA-1' = '${SHA1}']`,
      },
    ],
  }),
  'an OTX pulse': JSON.stringify({
    id: 'a',
    name: 'x',
    author_name: 'y',
    indicators: [{ id: 1, type: 'SSLCertFingerprint', indicator: COLONS }],
  }),
};

describe('the fingerprint of a certificate', () => {
  it.each(Object.entries(FILES))('in %s is imported as one', async (_, content) => {
    const input = inputOf(content);
    const importer = await recognizeFormat(input);
    const { records } = await runImporter(importer ?? createImporter('csv'), input);
    expect(ofKind(records, 'rejected')).toEqual([]);
    expect(ofKind(records, 'indicator')).toMatchObject([
      { type: 'SHA1', normalized: SHA1, ofCertificate: true },
    ]);
  });

  it('in a list of abuse.ch has its date and reason', async () => {
    const { records } = await runImporter(createImporter('csv'), inputOf(SSLBL));
    expect(records).toMatchObject([{ tags: ['KINS C&C'], firstSeen: new Date('2014-05-04T08:09:56.000Z') }]);
  });

  it.each([
    [`sha1\n${SHA1}\n`, { type: 'SHA1' }],
    [`type,value\nmd5,${MD5}\n`, { type: 'MD5' }],
  ])('is no hash of a file: %j', async (content, expected) => {
    const { records } = await runImporter(createImporter('csv'), inputOf(content));
    expect(records).toMatchObject([expected]);
    expect(records[0]).not.toHaveProperty('ofCertificate');
  });
});
