import { Badge } from '@mantine/core';
import type { CampaignStatus, Severity, Tlp, Verdict } from '../../../src/model/vocabulary.ts';
import { sentenceCase, tlpName } from './format.ts';

const SEVERITY_COLORS: Record<Severity, string> = {
  CRITICAL: 'red.9',
  HIGH: '#c2410c',
  MEDIUM: 'yellow.4',
  LOW: 'blue.8',
  INFO: 'gray.7',
};

/** Severity colours with enough contrast against the background of the page, for charts. */
export const SEVERITY_BAR_COLORS: Record<Severity, string> = { ...SEVERITY_COLORS, MEDIUM: 'yellow.6' };

export function SeverityBadge({ severity }: { severity: Severity }) {
  return (
    <Badge color={SEVERITY_COLORS[severity]} size="sm" radius="sm" miw="max-content">
      {severity}
    </Badge>
  );
}

/** The colours that FIRST defines for TLP 2.0 (https://www.first.org/tlp/), on black. */
const TLP_COLORS: Record<Tlp, string> = {
  CLEAR: '#ffffff',
  GREEN: '#33ff00',
  AMBER: '#ffc000',
  AMBER_STRICT: '#ffc000',
  RED: '#ff2b2b',
};

export function TlpBadge({ tlp }: { tlp: Tlp }) {
  return (
    <Badge
      size="sm"
      radius="sm"
      miw="max-content"
      styles={{ root: { backgroundColor: '#000', border: 0 }, label: { color: TLP_COLORS[tlp] } }}
    >
      {tlpName(tlp)}
    </Badge>
  );
}

const VERDICT_COLORS: Record<Verdict, string> = {
  MALICIOUS: 'red.9',
  SUSPICIOUS: '#c2410c',
  BENIGN: '#1f6f34',
  UNKNOWN: 'gray.7',
};

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <Badge color={VERDICT_COLORS[verdict]} size="sm" radius="sm">
      {verdict}
    </Badge>
  );
}

const CAMPAIGN_STATUS_COLORS: Record<CampaignStatus, string> = {
  ACTIVE: 'red.9',
  DORMANT: '#c2410c',
  CONCLUDED: 'gray.7',
  SUSPECTED: 'blue.8',
};

export function CampaignStatusBadge({ status }: { status: CampaignStatus }) {
  return (
    <Badge color={CAMPAIGN_STATUS_COLORS[status]} size="sm">
      {sentenceCase(status)}
    </Badge>
  );
}

/** Whether an actor is active. */
export function ActivityBadge({ active }: { active: boolean }) {
  return (
    <Badge color={active ? 'red.9' : 'gray.7'} size="sm">
      {active ? 'Active' : 'Inactive'}
    </Badge>
  );
}
