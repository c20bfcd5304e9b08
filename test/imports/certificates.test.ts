import { afterEach, beforeEach, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';

const SHA1 = '16efcaa97a0174bdd36aca2f542e9675b090151b';

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const zeek = async () => (await harness.get('/api/v1/exports/zeek')).body;

  it('a hash becomes the fingerprint of a certificate when a source says so, and stays one', async () => {
    await harness.load([indicatorRecord('SHA1', SHA1)]);
    expect(await zeek()).toContain(`${SHA1}\tIntel::FILE_HASH`);
    await harness.load([indicatorRecord('SHA1', SHA1, { ofCertificate: true })]);
    expect(await zeek()).toContain(`${SHA1}\tIntel::CERT_HASH`);
    await harness.load([indicatorRecord('SHA1', SHA1)], 'Another');
    expect(await zeek()).toContain(`${SHA1}\tIntel::CERT_HASH`);
  });

  it('loading the same certificate again changes nothing', async () => {
    const load = () => harness.load([indicatorRecord('SHA1', SHA1, { ofCertificate: true })]);
    await load();
    const etag = async () => (await harness.get('/api/v1/exports/zeek')).headers.etag;
    const before = await etag();
    await load();
    expect(await etag()).toBe(before);
  });
});
