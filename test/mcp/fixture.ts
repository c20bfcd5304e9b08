import type { Harness } from '../support/harness.ts';
import { indicatorRecord } from '../support/harness.ts';
import {
  actorRecord,
  attributeRecord,
  campaignRecord,
  relationshipRecord,
  reportRecord,
  softwareRecord,
  techniqueRecord,
} from '../support/records.ts';

/** An actor with all that belongs to one. */
export async function loadActor(harness: Harness): Promise<void> {
  const [evil, address, hash] = [
    indicatorRecord('DOMAIN', 'evil.com', { externalIds: ['i:1'], confidence: 80, tags: ['c2'] }),
    indicatorRecord('IPV4', '203.0.113.7', { externalIds: ['i:2'], confidence: 60 }),
    indicatorRecord('SHA256', 'ab'.repeat(32), { externalIds: ['i:3'], confidence: 20 }),
  ];
  await harness.load(
    [
      evil,
      address,
      hash,
      actorRecord('Fancy Cat', {
        aliases: [{ alias: 'Cat 7', namedBy: null }],
        attackGroupId: 'G9999',
        description: 'Catches mice.',
      }),
      campaignRecord('Mouse hunt', { startDate: new Date('2026-05-01T00:00:00Z') }),
      techniqueRecord('T1003.001', { name: 'LSASS Memory', tactics: ['credential-access'] }),
      softwareRecord('Mimikatz', { softwareType: 'tool', attackId: 'S0002' }),
      softwareRecord('Purr'),
      reportRecord('Of cats and mice', {
        description: 'A long story.',
        publishedAt: new Date('2026-05-02T00:00:00Z'),
        authors: ['A. Author'],
      }),
      attributeRecord('text', 'A note about the domain'),
      ...['i:1', 'i:2', 'i:3'].map((id) => relationshipRecord(id, 'indicates', 'actor:Fancy Cat')),
      relationshipRecord('i:1', 'indicates', 'campaign:Mouse hunt'),
      relationshipRecord('campaign:Mouse hunt', 'attributed-to', 'actor:Fancy Cat'),
      relationshipRecord('actor:Fancy Cat', 'uses', 'technique:T1003.001'),
      relationshipRecord('campaign:Mouse hunt', 'uses', 'technique:T1003.001'),
      relationshipRecord('actor:Fancy Cat', 'uses', 'software:Mimikatz'),
      relationshipRecord('actor:Fancy Cat', 'uses', 'software:Purr'),
      relationshipRecord('report:Of cats and mice', 'refers-to', 'i:1'),
      relationshipRecord('report:Of cats and mice', 'refers-to', 'actor:Fancy Cat'),
      relationshipRecord('report:Of cats and mice', 'refers-to', 'campaign:Mouse hunt'),
      relationshipRecord('attribute:text:A note about the domain', 'refers-to', 'i:1'),
    ],
    'Cats',
  );
}
