/** The tactics of ATT&CK Enterprise by their short names, in its order (https://attack.mitre.org/tactics/enterprise/). */
export const ENTERPRISE_TACTICS: readonly string[] = [
  'reconnaissance',
  'resource-development',
  'initial-access',
  'execution',
  'persistence',
  'privilege-escalation',
  'defense-evasion',
  'stealth',
  'defense-impairment',
  'credential-access',
  'discovery',
  'lateral-movement',
  'collection',
  'command-and-control',
  'exfiltration',
  'impact',
];

/** ATT&CK 19 replaced the first one by the others: no version has all three. */
const VERSIONED_TACTICS = ['defense-evasion', 'stealth', 'defense-impairment'];

/** Returns whether every version of ATT&CK Enterprise has this tactic. */
export function isLastingTactic(tactic: string): boolean {
  return ENTERPRISE_TACTICS.includes(tactic) && !VERSIONED_TACTICS.includes(tactic);
}

const TECHNIQUE = /^T\d{4}(\.\d{3})?$/;

/** Returns the address of a technique's page at MITRE; null if the id is not one of a technique (`T1059.001`). */
export function techniqueUrl(attackId: string): string | null {
  return TECHNIQUE.test(attackId)
    ? `https://attack.mitre.org/techniques/${attackId.replace('.', '/')}/`
    : null;
}

/** Returns the address of a group's page at MITRE; null if the id is not one of a group (`G0016`). */
export function groupUrl(attackId: string): string | null {
  return /^G\d{4}$/.test(attackId) ? `https://attack.mitre.org/groups/${attackId}/` : null;
}

/**
 * Returns whether a technique is one of ATT&CK Enterprise or Mobile, whose ids have the same form. Those of
 * industrial control systems begin with T0.
 */
export function isEnterpriseTechnique(attackId: string): boolean {
  return TECHNIQUE.test(attackId) && !attackId.startsWith('T0');
}
