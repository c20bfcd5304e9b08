import type { LogEvent } from './sigma-match.ts';

/** A log source as a rule names it (Sigma specification 2.0, "Log Sources"). */
export interface LogSource {
  product?: string;
  category?: string;
  service?: string;
}

const SYSMON = 'microsoft-windows-sysmon/operational';
const POWERSHELL = 'microsoft-windows-powershell/operational';

/** The categories of Windows that an event belongs to, by `channel/event id`, the channel in lower case. */
const CATEGORIES: Record<string, readonly string[]> = {
  [`${SYSMON}/1`]: ['process_creation'],
  [`${SYSMON}/2`]: ['file_change'],
  [`${SYSMON}/3`]: ['network_connection'],
  [`${SYSMON}/4`]: ['sysmon_status'],
  [`${SYSMON}/5`]: ['process_termination'],
  [`${SYSMON}/6`]: ['driver_load'],
  [`${SYSMON}/7`]: ['image_load'],
  [`${SYSMON}/8`]: ['create_remote_thread'],
  [`${SYSMON}/9`]: ['raw_access_thread'],
  [`${SYSMON}/10`]: ['process_access'],
  [`${SYSMON}/11`]: ['file_event'],
  [`${SYSMON}/12`]: ['registry_add', 'registry_delete', 'registry_event'],
  [`${SYSMON}/13`]: ['registry_set', 'registry_event'],
  [`${SYSMON}/14`]: ['registry_rename', 'registry_event'],
  [`${SYSMON}/15`]: ['create_stream_hash'],
  [`${SYSMON}/17`]: ['pipe_created'],
  [`${SYSMON}/18`]: ['pipe_created'],
  [`${SYSMON}/19`]: ['wmi_event'],
  [`${SYSMON}/20`]: ['wmi_event'],
  [`${SYSMON}/21`]: ['wmi_event'],
  [`${SYSMON}/22`]: ['dns_query'],
  [`${SYSMON}/23`]: ['file_delete'],
  [`${SYSMON}/25`]: ['process_tampering'],
  [`${SYSMON}/26`]: ['file_delete'],
  [`${POWERSHELL}/4103`]: ['ps_module'],
  [`${POWERSHELL}/4104`]: ['ps_script'],
  'windows powershell/400': ['ps_classic_start'],
  'windows powershell/800': ['ps_classic_provider_start'],
  'security/4688': ['process_creation'],
};

/** The services of Windows by channel in lower case. */
const SERVICES: Record<string, string> = {
  [SYSMON]: 'sysmon',
  [POWERSHELL]: 'powershell',
  'windows powershell': 'powershell-classic',
  application: 'application',
  security: 'security',
  system: 'system',
  'microsoft-windows-bits-client/operational': 'bits-client',
  'microsoft-windows-codeintegrity/operational': 'codeintegrity-operational',
  'microsoft-windows-ntlm/operational': 'ntlm',
  'microsoft-windows-taskscheduler/operational': 'taskscheduler',
  'microsoft-windows-terminalservices-localsessionmanager/operational':
    'terminalservices-localsessionmanager',
  'microsoft-windows-wmi-activity/operational': 'wmi',
  'microsoft-windows-windows defender/operational': 'windefend',
  'microsoft-windows-windows firewall with advanced security/firewall': 'firewall-as',
  'dns server': 'dns-server',
  msexchange_management: 'msexchange-management',
};

/** Returns the log sources of an event, `category` or `service` each; empty if no rule can name any. */
export function logSourcesOf(event: LogEvent): LogSource[] {
  const channel = String(event.Channel ?? '').toLowerCase();
  if (channel) {
    const service = SERVICES[channel];
    return [
      ...(CATEGORIES[`${channel}/${event.EventID}`] ?? []).map((category) => ({
        product: 'windows',
        category,
      })),
      ...(service === undefined ? [] : [{ product: 'windows', service }]),
    ];
  }
  if (event.eventSource && event.eventName) return [{ product: 'aws', service: 'cloudtrail' }];
  return [];
}

/** Names of fields in the audit log (event 4688) by the names that rules for `process_creation` use. */
const AUDIT_FIELDS = { Image: 'NewProcessName', ParentImage: 'ParentProcessName', User: 'SubjectUserName' };

/** Returns an event with the field names of its category: the audit log calls them otherwise than Sysmon. */
export function asCategory(event: LogEvent): LogEvent {
  if (event.EventID !== 4688) return event;
  const named = Object.entries(AUDIT_FIELDS).flatMap(([field, audit]) => {
    const value = event[audit];
    return value === undefined ? [] : [[field, value] as const];
  });
  return { ...event, ...Object.fromEntries(named) };
}
