const CURRENT_VERSION = 'Software\\Microsoft\\Windows\\CurrentVersion';
const NT_VERSION = 'Software\\Microsoft\\Windows NT\\CurrentVersion';
const CONTROL = 'System\\CurrentControlSet\\Control';

/** The names of shared keys by their parent key. */
const SHARED: readonly (readonly [string, string])[] = [
  ['', 'Software|System|SAM|Security|Hardware|Environment|Control Panel|Network|Printers'],
  ['Control Panel', 'Desktop'],
  ['Software', 'Classes|Microsoft|ODBC|Policies|WOW6432Node'],
  ['Software\\Classes', 'CLSID|AppID|Interface|TypeLib|*|Directory|Folder|Drive|exefile'],
  ['Software\\ODBC', 'ODBC.INI|ODBCINST.INI'],
  ['Software\\Policies', 'Microsoft'],
  ['Software\\Policies\\Microsoft', 'Windows|Windows Defender|Windows NT'],
  [
    'Software\\Microsoft',
    'Active Setup|Direct3D|DRM|Internet Explorer|Office|Security Center|Windows|Windows Defender|Windows NT',
  ],
  ['Software\\Microsoft\\Active Setup', 'Installed Components'],
  ['Software\\Microsoft\\Internet Explorer', 'Main|Toolbar|Extensions'],
  ['Software\\Microsoft\\Windows', 'CurrentVersion'],
  ['Software\\Microsoft\\Windows Defender', 'Exclusions|Real-Time Protection'],
  ['Software\\Microsoft\\Windows Defender\\Exclusions', 'Extensions|Paths|Processes'],
  [
    CURRENT_VERSION,
    'App Paths|Control Panel|Explorer|Ext|Group Policy|Internet Settings|Policies|Run|RunOnce|RunOnceEx|RunServices|RunServicesOnce|Uninstall',
  ],
  [
    `${CURRENT_VERSION}\\Explorer`,
    'Advanced|Browser Helper Objects|RecentDocs|Shell Folders|StartupApproved|User Shell Folders',
  ],
  [`${CURRENT_VERSION}\\Control Panel`, 'CPLs'],
  [`${CURRENT_VERSION}\\Ext`, 'Settings|Stats'],
  [`${CURRENT_VERSION}\\Internet Settings`, 'ZoneMap|Zones'],
  [`${CURRENT_VERSION}\\Policies`, 'Explorer|System'],
  [`${CURRENT_VERSION}\\Policies\\Explorer`, 'Run'],
  ['Software\\Microsoft\\Windows NT', 'CurrentVersion'],
  [
    NT_VERSION,
    'AppCompatFlags|Image File Execution Options|Schedule|SilentProcessExit|SvcHost|Windows|Winlogon',
  ],
  [`${NT_VERSION}\\AppCompatFlags`, 'Layers|Custom|InstalledSDB'],
  [`${NT_VERSION}\\Schedule`, 'TaskCache'],
  [`${NT_VERSION}\\Schedule\\TaskCache`, 'Tasks|Tree'],
  [`${NT_VERSION}\\Winlogon`, 'Notify'],
  ['System', 'CurrentControlSet|Select|MountedDevices'],
  ['System\\CurrentControlSet', 'Control|Enum|Hardware Profiles|Services'],
  [CONTROL, 'Class|Lsa|Print|SafeBoot|SecurityProviders|Session Manager|Terminal Server'],
  [`${CONTROL}\\Session Manager`, 'Environment|Memory Management'],
];

const KEYS: ReadonlySet<string> = new Set(
  SHARED.flatMap(([parent, names]) =>
    names.split('|').map((name) => (parent === '' ? name : `${parent}\\${name}`).toLowerCase()),
  ),
);

/**
 * Returns whether every Windows writes to this key, such as `CurrentVersion\Run`. A path that names no entry
 * in it indicates nothing: its entries are set all day, and the key itself is never set.
 * @param key below the hive, and in HKEY_USERS below the user
 */
export function isSharedKey(key: string): boolean {
  return KEYS.has(key.toLowerCase().replace(/^software\\wow6432node\\/, 'software\\'));
}
