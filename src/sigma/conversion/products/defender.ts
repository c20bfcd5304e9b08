import {
  always,
  column,
  decimalRegistryData,
  type Events,
  fullRegistryPaths,
  hash,
  hashes,
  isExactly,
  onlyTrue,
  type Places,
  REGISTRY_NUMBER,
  REGISTRY_PATH,
  renamed,
  rewritten,
  user,
} from '../columns.ts';
import { constant } from '../expression.ts';
import { own } from '../own.ts';
import { Unconvertible } from '../unconvertible.ts';
import { isFieldName } from './field-names.ts';
import type { LogSource } from './windows.ts';

const number = (name: string) => column(name, 'number');
const property = (name: string) => column(`tostring(parse_json(AdditionalFields).${name})`);
const MD5 = hash(column('MD5'));
const SHA1 = hash(column('SHA1'));
const SHA256 = hash(column('SHA256'));
const FILE: Places = {
  Hashes: hashes({ MD5: column('MD5'), SHA1: column('SHA1'), SHA256: column('SHA256') }),
  md5: MD5,
  sha1: SHA1,
  sha256: SHA256,
};
/** The process that caused an event, where it is not the event's subject. */
const INITIATOR: Places = {
  Image: column('InitiatingProcessFolderPath'),
  CommandLine: column('InitiatingProcessCommandLine'),
  ProcessId: number('InitiatingProcessId'),
  User: user(column('InitiatingProcessAccountDomain'), column('InitiatingProcessAccountName')),
};
const TYPES = {
  CreateKey: ['RegistryKeyCreated'],
  DeleteKey: ['RegistryKeyDeleted'],
  DeleteValue: ['RegistryValueDeleted'],
  RenameKey: ['RegistryKeyRenamed'],
  SetValue: ['RegistryValueSet'],
};
const REGISTRY: Places = {
  ...INITIATOR,
  EventType: renamed(column('ActionType'), TYPES),
  TargetObject: rewritten(
    column('iff(isempty(RegistryValueName), RegistryKey, strcat(RegistryKey, "\\\\", RegistryValueName))'),
    fullRegistryPaths,
    REGISTRY_PATH,
  ),
  Details: rewritten(column('RegistryValueData'), decimalRegistryData, REGISTRY_NUMBER),
};
const ofFiles = { ...INITIATOR, ...FILE, TargetFilename: column('FolderPath') };

interface Kind {
  table: string;
  /** Values of `ActionType`; all, if there are none. */
  actions: readonly string[];
  places: Places;
  /** The number of Sysmon's event. */
  id: string;
}

const CATEGORIES: Readonly<Record<string, Kind | undefined>> = {
  process_creation: {
    table: 'DeviceProcessEvents',
    actions: ['ProcessCreated'],
    id: '1',
    places: {
      ...FILE,
      Image: column('FolderPath'),
      CommandLine: column('ProcessCommandLine'),
      OriginalFileName: column('ProcessVersionInfoOriginalFileName'),
      Description: column('ProcessVersionInfoFileDescription'),
      Product: column('ProcessVersionInfoProductName'),
      Company: column('ProcessVersionInfoCompanyName'),
      IntegrityLevel: column('ProcessIntegrityLevel'),
      ProcessId: number('ProcessId'),
      User: user(column('AccountDomain'), column('AccountName')),
      ParentImage: column('InitiatingProcessFolderPath'),
      ParentCommandLine: column('InitiatingProcessCommandLine'),
      ParentProcessId: number('InitiatingProcessId'),
      ParentUser: user(column('InitiatingProcessAccountDomain'), column('InitiatingProcessAccountName')),
    },
  },
  network_connection: {
    // Incoming connections have the device's own address where outgoing ones have the remote one.
    table: 'DeviceNetworkEvents',
    actions: ['ConnectionSuccess', 'ConnectionFound', 'ConnectionRequest'],
    id: '3',
    places: {
      ...INITIATOR,
      Initiated: onlyTrue,
      Protocol: column('Protocol'),
      SourceIp: column('LocalIP'),
      SourcePort: number('LocalPort'),
      DestinationIp: column('RemoteIP'),
      DestinationPort: number('RemotePort'),
      DestinationHostname: column(
        'iff(RemoteUrl contains "://", tostring(parse_url(RemoteUrl).Host), RemoteUrl)',
      ),
    },
  },
  image_load: {
    table: 'DeviceImageLoadEvents',
    actions: ['ImageLoaded'],
    id: '7',
    places: { ...INITIATOR, ...FILE, ImageLoaded: column('FolderPath') },
  },
  driver_load: {
    table: 'DeviceEvents',
    actions: ['DriverLoad'],
    id: '6',
    places: { ...FILE, ImageLoaded: column('FolderPath') },
  },
  create_remote_thread: {
    table: 'DeviceEvents',
    actions: ['CreateRemoteThreadApiCall'],
    id: '8',
    places: { SourceImage: column('InitiatingProcessFolderPath'), TargetImage: column('FolderPath') },
  },
  file_event: { table: 'DeviceFileEvents', actions: ['FileCreated'], id: '11', places: ofFiles },
  file_delete: { table: 'DeviceFileEvents', actions: ['FileDeleted'], id: '23', places: ofFiles },
  file_rename: { table: 'DeviceFileEvents', actions: ['FileRenamed'], id: '', places: ofFiles },
  registry_add: {
    table: 'DeviceRegistryEvents',
    actions: ['RegistryKeyCreated'],
    id: '12',
    places: REGISTRY,
  },
  registry_delete: {
    table: 'DeviceRegistryEvents',
    actions: ['RegistryKeyDeleted', 'RegistryValueDeleted'],
    id: '12',
    places: REGISTRY,
  },
  registry_set: { table: 'DeviceRegistryEvents', actions: ['RegistryValueSet'], id: '13', places: REGISTRY },
  registry_event: { table: 'DeviceRegistryEvents', actions: [], id: '', places: REGISTRY },
  dns_query: {
    table: 'DeviceEvents',
    actions: ['DnsQueryResponse'],
    id: '22',
    places: { ...INITIATOR, QueryName: property('DnsQueryString') },
  },
  pipe_created: {
    table: 'DeviceEvents',
    actions: ['NamedPipeEvent'],
    id: '',
    places: {
      ...INITIATOR,
      PipeName: column(
        'replace_string(tostring(parse_json(AdditionalFields).PipeName), "\\\\Device\\\\NamedPipe", "")',
      ),
    },
  },
};

const SYSTEMS = ['', 'windows', 'linux', 'macos'];
/** Microsoft's record of an audited operation, as its source sent it. */
const AUDIT: Places = { Operation: column('ActionType') };

/** Returns the events of a log source in Defender XDR's tables for advanced hunting. */
export function defenderEvents({ product, category, service }: LogSource): Events {
  if (product === 'm365' && ['audit', 'exchange'].includes(service))
    return {
      table: 'CloudAppEvents',
      isMapped: true,
      condition: constant(true),
      place: (field) =>
        own(AUDIT, field) ??
        (isFieldName(field) && /^\w+$/.test(field) ? column(`tostring(RawEventData.${field})`) : undefined),
    };
  const kind = service === '' && SYSTEMS.includes(product) ? own(CATEGORIES, category) : undefined;
  if (!kind) throw new Unconvertible('logsource', [product, category, service].filter(Boolean).join('/'));
  const { table, actions, places, id } = kind;
  const action = column('ActionType');
  const all: Places = id === '' ? places : { ...places, EventID: always(id) };
  return {
    table,
    isMapped: true,
    condition: actions.length === 0 ? constant(true) : isExactly(action, ...actions),
    place: (field) => own(all, field),
  };
}
