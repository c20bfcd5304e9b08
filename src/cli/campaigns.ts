import { Command } from 'commander';
import { setCampaignStatus } from '../entities/campaigns/status/campaign-status.service.ts';
import { CAMPAIGN_STATUSES, type CampaignStatus } from '../model/vocabulary.ts';
import { osUser } from './actor.ts';
import { nonEmpty, oneOf } from './options.ts';
import { print } from './output.ts';
import { withDatabase } from './store.ts';

const DATES = 'BY_DATES';

export function campaignsCommand(): Command {
  const campaigns = new Command('campaigns').description('settings of campaigns');
  campaigns
    .command('status')
    .description('set the status of a campaign; by-dates derives it from its dates again')
    .argument('<campaign>', 'its id or name')
    .argument(
      '<status>',
      `${CAMPAIGN_STATUSES.join(', ')}, or by-dates`,
      oneOf([...CAMPAIGN_STATUSES, DATES]),
    )
    .option('--reason <text>', 'reason, recorded in the audit log', nonEmpty)
    .action(set);
  return campaigns;
}

async function set(
  campaign: string,
  word: CampaignStatus | typeof DATES,
  { reason }: { reason?: string },
): Promise<void> {
  const status = word === DATES ? null : word;
  const why = { who: osUser(), reason: reason ?? null, now: new Date() };
  const before = await withDatabase(({ db }) => setCampaignStatus(db, campaign, status, why));
  const formatStatus = (one: CampaignStatus | null) => one ?? 'by its dates';
  print(`${before.name}: ${formatStatus(before.status)} → ${formatStatus(status)}.`);
}
