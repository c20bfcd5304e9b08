import { expect, it } from 'vitest';
import { kevImporter } from '../../src/importers/kev.ts';
import { inputOf, ofKind, runImporter } from './run-importer.ts';

const run = (catalogue: unknown) => runImporter(kevImporter, inputOf(JSON.stringify(catalogue)));
const entry = {
  cveID: 'CVE-2025-48384',
  vendorProject: 'Git',
  product: 'Multiple Products',
  dateAdded: '2025-08-25',
  knownRansomwareCampaignUse: 'Unknown',
};

it.each([
  ['Unknown', 'HIGH', ['kev', 'Git']],
  ['Known', 'CRITICAL', ['kev', 'ransomware', 'Git']],
])('with known ransomware use %s the severity is %s', async (use, severity, tags) => {
  const { records } = await run({ vulnerabilities: [{ ...entry, knownRansomwareCampaignUse: use }] });
  expect(records).toEqual([
    expect.objectContaining({
      type: 'CVE',
      value: 'CVE-2025-48384',
      severity,
      tags,
      firstSeen: new Date('2025-08-25'),
      kev: {
        dateAdded: '2025-08-25',
        dueDate: null,
        knownRansomware: use === 'Known',
        requiredAction: null,
      },
      forDetection: true,
    }),
  ]);
});

it.each([
  ['a day', '2025-09-15', '2025-09-15'],
  ['a day that the calendar lacks', '2025-02-30', null],
  ['a number', 20250915, null],
  ['no text', ' ', null],
])('reads %s as the due date', async (_, dueDate, read) => {
  const { records } = await run({ vulnerabilities: [{ ...entry, dueDate, requiredAction: 'Act.' }] });
  expect(records).toEqual([
    expect.objectContaining({ kev: expect.objectContaining({ dueDate: read, requiredAction: 'Act.' }) }),
  ]);
});

it('rejects an entry without a CVE id and continues', async () => {
  const { records } = await run({
    vulnerabilities: [{ ...entry, cveID: 'GHSA-1' }, { dateAdded: '2025-01-01' }, entry],
  });
  expect(ofKind(records, 'rejected').map(({ reason }) => reason)).toEqual(['not a CVE id', 'no value']);
  expect(ofKind(records, 'indicator')).toHaveLength(1);
});

it('reports a document that is not the KEV catalogue', async () => {
  expect((await run({ message: 'Forbidden' })).unreadable).toContain('not the KEV catalogue');
});
