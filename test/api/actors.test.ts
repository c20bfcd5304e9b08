import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord, softwareRecord, techniqueRecord } from '../support/records.ts';

onEveryEngine((engine) => {
  describe('GET /api/v1/actors', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([
        actorRecord('menuPass', {
          externalIds: ['m'],
          attackGroupId: 'G0045',
          description: 'Who they are.',
          country: 'CN',
          motivation: 'ESPIONAGE',
          sophistication: 'EXPERT',
          aliases: [{ alias: 'APT10', namedBy: 'Mandiant' }],
          firstSeen: new Date('2009-01-01T00:00:00Z'),
          lastSeen: new Date('2024-06-02T00:00:00Z'),
          targetSectors: ['defense'],
          targetCountries: ['JP'],
          confidence: 80,
        }),
        actorRecord('Zebra'),
        actorRecord('alpha', { lastSeen: new Date('2024-06-01T00:00:00Z') }),
        actorRecord('Beta', { retired: true }),
        actorRecord('Secret', { tlp: 'RED' }),
        techniqueRecord('T1059.001', { name: 'PowerShell', tactics: ['execution'] }),
        techniqueRecord('T1003', { tlp: 'RED' }),
        softwareRecord('PlugX', { attackId: 'S0013' }),
        softwareRecord('certutil', { softwareType: 'tool', attackId: 'S0160' }),
        relationshipRecord('m', 'uses', 'technique:T1059.001'),
        relationshipRecord('m', 'uses', 'technique:T1003'),
        relationshipRecord('m', 'uses', 'software:PlugX'),
        relationshipRecord('m', 'uses', 'software:certutil'),
      ]);
    });
    afterAll(() => tipline.close());

    const names = async (query: string, key?: string) => {
      const { data, total } = (await tipline.get(`/api/v1/actors${query}`, key ? { key } : {})).json();
      expect(total).toBe(data.length);
      return data.map(({ name }: { name: string }) => name);
    };

    it('sorts by name, ignoring case', async () => {
      expect(await names('')).toEqual(['alpha', 'Beta', 'menuPass', 'Secret', 'Zebra']);
    });

    it('treats an actor as active unless it is retired or was last seen over two years ago', async () => {
      expect(await names('?active=true')).toEqual(['menuPass', 'Secret', 'Zebra']);
      expect(await names('?active=false')).toEqual(['alpha', 'Beta']);
    });

    it('finds actors by a part of the name, of an alias or of the ATT&CK id, ignoring case', async () => {
      expect(await names('?q=ZEB')).toEqual(['Zebra']);
      expect(await names('?q=apt10')).toEqual(['menuPass']);
      expect(await names('?q=G0045')).toEqual(['menuPass']);
      expect(await names('?q=e%25')).toEqual([]);
      expect(await names('?q=a&active=false')).toEqual(['alpha', 'Beta']);
      expect((await tipline.get('/api/v1/actors?q=')).statusCode).toBe(400);
    });

    it('finds actors by what they use, unless the technique is above the TLP ceiling', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'GREEN' });
      for (const used of ['plugx', 'S0013', 'PowerShell', 't1059.001', 'CertUtil'])
        expect(await names(`?uses=${used}`)).toEqual(['menuPass']);
      expect(await names('?uses=plug')).toEqual([]);
      expect(await names('?uses=T1003')).toEqual(['menuPass']);
      expect(await names('?uses=T1003', key)).toEqual([]);
    });

    it("excludes actors above the key's TLP ceiling, also from the total", async () => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER_STRICT' });
      expect(await names('', key)).toEqual(['alpha', 'Beta', 'menuPass', 'Zebra']);
    });

    it('paginates with a default pageSize of 50 and a maximum of 200', async () => {
      expect((await tipline.get('/api/v1/actors')).json()).toMatchObject({ page: 1, pageSize: 50, total: 5 });
      expect((await tipline.get('/api/v1/actors?pageSize=200')).statusCode).toBe(200);
      expect((await tipline.get('/api/v1/actors?pageSize=201')).statusCode).toBe(400);
      expect((await tipline.get('/api/v1/actors?active=yes')).json().error).toBe(
        'active must be true or false.',
      );
    });

    it("returns one actor with its relationships, limited to the key's TLP ceiling", async () => {
      const [, , menuPass] = (await tipline.get('/api/v1/actors')).json().data;
      const key = await tipline.newKey({ tlpCeiling: 'GREEN' });
      expect((await tipline.get(`/api/v1/actors/${menuPass.id}`, { key })).json()).toEqual({
        data: {
          ...menuPass,
          name: 'menuPass',
          slug: 'menupass',
          attackGroupId: 'G0045',
          country: 'CN',
          motivation: 'ESPIONAGE',
          sophistication: 'EXPERT',
          active: true,
          confidence: 80,
          tlp: 'CLEAR',
          aliases: [{ alias: 'APT10', namedBy: 'Mandiant' }],
          description: 'Who they are.',
          targetSectors: ['defense'],
          targetCountries: ['JP'],
          firstSeen: '2009-01-01T00:00:00.000Z',
          lastSeen: '2024-06-02T00:00:00.000Z',
          techniques: [
            { id: expect.any(String), attackId: 'T1059.001', name: 'PowerShell', tactics: ['execution'] },
          ],
          malware: [{ id: expect.any(String), attackId: 'S0013', name: 'PlugX' }],
          tools: [{ id: expect.any(String), attackId: 'S0160', name: 'certutil' }],
        },
      });
    });

    it('returns 404 for an actor above the TLP ceiling', async () => {
      const secret = (await tipline.get('/api/v1/actors')).json().data[3];
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      expect((await tipline.get(`/api/v1/actors/${secret.id}`)).statusCode).toBe(200);
      expect((await tipline.get(`/api/v1/actors/${secret.id}`, { key })).statusCode).toBe(404);
    });
  });
});
