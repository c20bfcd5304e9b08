import { type AuditActor, writeAudit } from '../../../audit/audit.queries.ts';
import type { Db } from '../../../db/database.ts';
import { withRevision } from '../../../db/revision/revision.ts';
import type { CampaignStatus } from '../../../model/vocabulary.ts';
import { findCampaignsNamed, type NamedCampaign, writeStatus } from './campaign-status.queries.ts';

/**
 * Sets the status of a campaign and audits the change. With null, its dates determine the status again.
 * @returns the campaign before the change
 * @throws if there is no such campaign, or several have this name
 */
export async function setCampaignStatus(
  db: Db,
  idOrName: string,
  status: CampaignStatus | null,
  { reason, ...by }: AuditActor & { reason: string | null },
): Promise<NamedCampaign> {
  return withRevision(db, async (trx, revision) => {
    const [campaign, ...others] = await findCampaignsNamed(trx, idOrName);
    if (!campaign) throw new Error(`There is no campaign "${idOrName}".`);
    if (others.length > 0)
      throw new Error(
        `Several campaigns are called "${idOrName}": ${[campaign, ...others].map(({ id }) => id).join(', ')}.`,
      );
    if (campaign.status === status) return campaign;
    await writeStatus(trx, campaign.id, status, revision.next, by.now);
    await writeAudit(trx, by, {
      action: 'campaign.status',
      object: { kind: 'campaign', id: campaign.id },
      before: { status: campaign.status },
      after: { status },
      reason,
    });
    revision.advance();
    return campaign;
  });
}
