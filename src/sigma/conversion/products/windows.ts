import type { Column } from '../columns.ts';
import { both, constant, type Expression } from '../expression.ts';
import { own } from '../own.ts';

/** A rule's log source; the values are lower-case words, '' where the rule states none. */
export interface LogSource {
  product: string;
  category: string;
  service: string;
}

const SYSMON = 'Microsoft-Windows-Sysmon/Operational';
const POWERSHELL = ['Microsoft-Windows-PowerShell/Operational', 'PowerShellCore/Operational'];
const CLASSIC = ['Windows PowerShell'];

interface Origin {
  channels: readonly string[];
  ids: readonly number[];
  /** The values of `EventType` where several categories share an event. */
  types?: readonly string[];
}

const sysmon = (...ids: number[]): Origin => ({ channels: [SYSMON], ids });
const ofTypes = (origin: Origin, ...types: string[]): Origin => ({ ...origin, types });

/** The events of the categories (Sysmon's documentation; Microsoft's documentation of PowerShell's logs). */
const CATEGORIES: Readonly<Record<string, Origin | undefined>> = {
  process_creation: sysmon(1),
  file_change: sysmon(2),
  network_connection: sysmon(3),
  process_termination: sysmon(5),
  driver_load: sysmon(6),
  image_load: sysmon(7),
  create_remote_thread: sysmon(8),
  raw_access_thread: sysmon(9),
  process_access: sysmon(10),
  file_event: sysmon(11),
  registry_add: ofTypes(sysmon(12), 'CreateKey'),
  registry_delete: ofTypes(sysmon(12), 'DeleteKey', 'DeleteValue'),
  registry_set: sysmon(13),
  registry_rename: sysmon(14),
  registry_event: sysmon(12, 13, 14),
  create_stream_hash: sysmon(15),
  pipe_created: sysmon(17, 18),
  wmi_event: sysmon(19, 20, 21),
  dns_query: sysmon(22),
  file_delete: sysmon(23, 26),
  clipboard_capture: sysmon(24),
  process_tampering: sysmon(25),
  file_executable_detected: sysmon(29),
  ps_module: { channels: POWERSHELL, ids: [4103] },
  ps_script: { channels: POWERSHELL, ids: [4104] },
  ps_classic_start: { channels: CLASSIC, ids: [400] },
  ps_classic_provider_start: { channels: CLASSIC, ids: [600] },
};

const microsoft = (name: string) => `Microsoft-Windows-${name}`;
const SERVICES: Readonly<Record<string, readonly string[] | undefined>> = {
  application: ['Application'],
  security: ['Security'],
  system: ['System'],
  sysmon: [SYSMON],
  powershell: POWERSHELL,
  'powershell-classic': CLASSIC,
  'dns-server': ['DNS Server'],
  'msexchange-management': ['MSExchange Management'],
  'microsoft-servicebus-client': ['Microsoft-ServiceBus-Client'],
  openssh: ['OpenSSH/Operational'],
  applocker: ['EXE and DLL', 'MSI and Script', 'Packaged app-Deployment', 'Packaged app-Execution'].map(
    (name) => microsoft(`AppLocker/${name}`),
  ),
  'appmodel-runtime': [microsoft('AppModel-Runtime/Admin')],
  'appxdeployment-server': [microsoft('AppXDeploymentServer/Operational')],
  'appxpackaging-om': [microsoft('AppxPackaging/Operational')],
  bitlocker: [microsoft('BitLocker/BitLocker Management')],
  'bits-client': [microsoft('Bits-Client/Operational')],
  capi2: [microsoft('CAPI2/Operational')],
  'certificateservicesclient-lifecycle-system': [
    microsoft('CertificateServicesClient-Lifecycle-System/Operational'),
  ],
  'codeintegrity-operational': [microsoft('CodeIntegrity/Operational')],
  dhcp: [microsoft('DHCP-Server/Operational')],
  'diagnosis-scripted': [microsoft('Diagnosis-Scripted/Operational')],
  'dns-client': [microsoft('DNS Client Events/Operational'), microsoft('DNS-Client/Operational')],
  'dns-server-analytic': [microsoft('DNS-Server/Analytical')],
  'dns-server-audit': [microsoft('DNS-Server/Audit'), microsoft('DNSServer/Audit')],
  'driver-framework': [microsoft('DriverFrameworks-UserMode/Operational')],
  'firewall-as': [microsoft('Windows Firewall With Advanced Security/Firewall')],
  'iis-configuration': ['Microsoft-IIS-Configuration/Operational'],
  ldap: [microsoft('LDAP-Client/Debug')],
  'lsa-server': [microsoft('LSA/Operational')],
  ntlm: [microsoft('NTLM/Operational')],
  'printservice-admin': [microsoft('PrintService/Admin')],
  'printservice-operational': [microsoft('PrintService/Operational')],
  'security-mitigations': [
    microsoft('Security-Mitigations/KernelMode'),
    microsoft('Security-Mitigations/UserMode'),
    microsoft('Security-Mitigations/Kernel Mode'),
    microsoft('Security-Mitigations/User Mode'),
  ],
  'shell-core': [microsoft('Shell-Core/Operational')],
  'smbclient-connectivity': [microsoft('SmbClient/Connectivity')],
  'smbclient-security': [microsoft('SmbClient/Security')],
  'smbserver-connectivity': [microsoft('SMBServer/Connectivity')],
  taskscheduler: [microsoft('TaskScheduler/Operational')],
  'terminalservices-localsessionmanager': [microsoft('TerminalServices-LocalSessionManager/Operational')],
  vhdmp: [microsoft('VHDMP-Operational'), microsoft('VHDMP/Operational')],
  windefend: [microsoft('Windows Defender/Operational')],
  wmi: [microsoft('WMI-Activity/Operational')],
};

/** Returns the channels and the event ids of a Windows log source; undefined if they are not known. */
export function windowsOrigin({ category, service }: LogSource): Origin | undefined {
  if (category !== '') return own(CATEGORIES, category);
  const channels = own(SERVICES, service);
  return channels && { channels, ids: [] };
}

/** Returns the condition of a Windows log source in a product's columns. */
export function windowsCondition(
  origin: Origin,
  columns: { channel: Column; id: Column; type: Column },
  isEqual: (column: Column, ...texts: string[]) => Expression<Column>,
): Expression<Column> {
  const { channels, ids, types = [] } = origin;
  const has = (column: Column, values: readonly (string | number)[]) =>
    values.length === 0 ? constant(true) : isEqual(column, ...values.map(String));
  return both([has(columns.channel, channels), has(columns.id, ids), has(columns.type, types)]);
}
