import {
  always,
  type Column,
  column,
  type Events,
  fullRegistryPaths,
  hash,
  hashes,
  isExactly,
  type Places,
  REGISTRY_NUMBER,
  REGISTRY_PATH,
  renamed,
  rewritten,
  sysmonOrDecimalRegistryData,
} from '../columns.ts';
import { constant, type Expression } from '../expression.ts';
import { kustoText } from '../languages/kusto.ts';
import { own } from '../own.ts';
import { Unconvertible } from '../unconvertible.ts';
import { isFieldName } from './field-names.ts';
import { type LogSource, windowsCondition, windowsOrigin } from './windows.ts';

const number = (name: string) => column(name, 'number');
const urlPart = (name: string) => column(`tostring(parse_url(Url).${name})`);

/** The process that caused an event, in ASIM. */
const ACTOR: Places = {
  Image: column('ActingProcessName'),
  CommandLine: column('ActingProcessCommandLine'),
  ProcessId: column('ActingProcessId'),
  User: column('ActorUsername'),
};
const fileHashes = (prefix: string): Places => ({
  Hashes: hashes({
    MD5: column(`${prefix}MD5`),
    SHA1: column(`${prefix}SHA1`),
    SHA256: column(`${prefix}SHA256`),
    ...(prefix === 'TargetProcess' && { IMPHASH: column(`${prefix}IMPHASH`) }),
  }),
  md5: hash(column(`${prefix}MD5`)),
  sha1: hash(column(`${prefix}SHA1`)),
  sha256: hash(column(`${prefix}SHA256`)),
});
const FILE: Places = { ...ACTOR, ...fileHashes('TargetFile'), TargetFilename: column('TargetFilePath') };
const REGISTRY: Places = {
  ...ACTOR,
  EventType: renamed(column('EventType'), {
    CreateKey: ['RegistryKeyCreated'],
    DeleteKey: ['RegistryKeyDeleted'],
    DeleteValue: ['RegistryValueDeleted'],
    RenameKey: ['RegistryKeyRenamed'],
    SetValue: ['RegistryValueSet'],
  }),
  TargetObject: rewritten(
    column('iff(isempty(RegistryValue), RegistryKey, strcat(RegistryKey, "\\\\", RegistryValue))'),
    fullRegistryPaths,
    REGISTRY_PATH,
  ),
  Details: rewritten(column('RegistryValueData'), sysmonOrDecimalRegistryData, REGISTRY_NUMBER),
};
const registry = (type?: string): Kind => ({
  table: 'imRegistry',
  condition: type === undefined ? constant(true) : isExactly(column('EventType'), type),
  places: REGISTRY,
});
const file = (type: string): Kind => ({
  table: 'imFileEvent',
  condition: isExactly(column('EventType'), type),
  places: FILE,
});

interface Kind {
  table: string;
  condition: Expression<Column>;
  places: Places;
}

/** The schemas of the Advanced Security Information Model. */
const ASIM: Readonly<Record<string, Kind | undefined>> = {
  process_creation: {
    table: 'imProcessCreate',
    condition: constant(true),
    places: {
      ...fileHashes('TargetProcess'),
      EventID: always('1'),
      Image: column('TargetProcessName'),
      CommandLine: column('TargetProcessCommandLine'),
      CurrentDirectory: column('TargetProcessCurrentDirectory'),
      OriginalFileName: column('TargetProcessFileOriginalName'),
      Description: column('TargetProcessFileDescription'),
      Product: column('TargetProcessFileProduct'),
      Company: column('TargetProcessFileCompany'),
      FileVersion: column('TargetProcessFileVersion'),
      IntegrityLevel: column('TargetProcessIntegrityLevel'),
      ProcessId: column('TargetProcessId'),
      User: column('TargetUsername'),
      ParentImage: column('ActingProcessName'),
      ParentCommandLine: column('ActingProcessCommandLine'),
      ParentProcessId: column('ActingProcessId'),
      ParentUser: column('ActorUsername'),
    },
  },
  file_event: file('FileCreated'),
  file_delete: file('FileDeleted'),
  file_rename: file('FileRenamed'),
  registry_add: registry('RegistryKeyCreated'),
  registry_set: registry('RegistryValueSet'),
  registry_event: registry(),
  network_connection: {
    table: '_Im_NetworkSession',
    condition: constant(true),
    places: {
      Image: column('SrcProcessName'),
      User: column('SrcUsername'),
      Initiated: renamed(column('NetworkDirection'), { true: ['Outbound'], false: ['Inbound'] }),
      Protocol: column('NetworkProtocol'),
      SourceIp: column('SrcIpAddr'),
      SourcePort: number('SrcPortNumber'),
      DestinationIp: column('DstIpAddr'),
      DestinationPort: number('DstPortNumber'),
      DestinationHostname: column('coalesce(DstFQDN, DstHostname)'),
    },
  },
  firewall: {
    table: '_Im_NetworkSession',
    condition: constant(true),
    places: {
      src_ip: column('SrcIpAddr'),
      src_port: number('SrcPortNumber'),
      dst_ip: column('DstIpAddr'),
      dst_port: number('DstPortNumber'),
    },
  },
  dns_query: {
    table: '_Im_Dns',
    condition: constant(true),
    places: { QueryName: column('DnsQuery'), Image: column('SrcProcessName'), User: column('SrcUsername') },
  },
  dns: {
    table: '_Im_Dns',
    condition: constant(true),
    places: {
      query: column('DnsQuery'),
      record_type: column('DnsQueryTypeName'),
      answer: column('DnsResponseName'),
      src_ip: column('SrcIpAddr'),
    },
  },
  proxy: {
    table: '_Im_WebSession',
    condition: constant(true),
    places: {
      'c-uri': column('Url'),
      'c-uri-stem': urlPart('Path'),
      'c-useragent': column('HttpUserAgent'),
      'cs-user-agent': column('HttpUserAgent'),
      'cs-host': urlPart('Host'),
      'cs-method': column('HttpRequestMethod'),
      'cs-referer': column('HttpReferrer'),
      'cs-referrer': column('HttpReferrer'),
      'sc-status': column('EventResultDetails'),
      src_ip: column('SrcIpAddr'),
      dst_ip: column('DstIpAddr'),
    },
  },
  webserver: {
    table: 'W3CIISLog',
    condition: constant(true),
    places: {
      'c-ip': column('cIP'),
      'cs-cookie': column('csCookie'),
      'cs-host': column('csHost'),
      'cs-method': column('csMethod'),
      'cs-referer': column('csReferer'),
      'cs-uri-query': column('csUriQuery'),
      'cs-uri-stem': column('csUriStem'),
      'cs-user-agent': column('csUserAgent'),
      'sc-status': column('scStatus'),
    },
  },
};

const texts = (names: string): Places =>
  Object.fromEntries(names.split(' ').map((name) => [name, column(name)]));
const numbers = (names: string): Places =>
  Object.fromEntries(names.split(' ').map((name) => [name, column(name, 'number')]));
/** Columns of the type dynamic, as text in JSON. */
const structures = (names: string): Places =>
  Object.fromEntries(names.split(' ').map((name) => [name, column(`tostring(${name})`)]));

/** Columns of `SecurityEvent` that have the name of a field of the event (Azure Monitor's reference of tables). */
const SECURITY: Places = {
  ...texts(
    'AccessMask AllowedToDelegateTo Attributes AuditPolicyChanges AuthenticationPackageName CallerProcessId CallerProcessName ' +
      'ClassId ClassName ClientAddress ClientName CommandLine DeviceDescription DeviceId DisplayName DomainName ElevatedToken ' +
      'FailureReason FilePath GroupMembership HandleId HardwareIds HomeDirectory IpAddress IpPort KeyLength LmPackageName ' +
      'LogonGuid LogonProcessName MandatoryLabel MemberName MemberSid NewProcessId NewProcessName NewUacValue NewValue ' +
      'NewValueType ObjectName ObjectServer ObjectType ObjectValueName OldUacValue OldValue OldValueType OperationType ' +
      'PackageName ParentProcessName PasswordLastSet PrimaryGroupId PrivilegeList ProcessId ProcessName ProfilePath Properties ' +
      'RelativeTargetName RestrictedAdminMode SamAccountName ScriptPath ServiceAccount ServiceFileName ServiceName ServiceType ' +
      'SessionName ShareLocalPath ShareName SidHistory Status SubcategoryGuid SubcategoryId SubjectDomainName SubjectLogonId ' +
      'SubjectUserName SubjectUserSid SubStatus TargetDomainName TargetInfo TargetLinkedLogonId TargetLogonGuid TargetLogonId ' +
      'TargetOutboundDomainName TargetOutboundUserName TargetServerName TargetSid TargetUserName TargetUserSid ' +
      'TokenElevationType TransmittedServices UserAccountControl UserPrincipalName UserWorkstations VirtualAccount Workstation ' +
      'WorkstationName',
  ),
  ...numbers('EventID LogonType ServiceStartType'),
  KeyLength: column('KeyLength', 'number'),
  Provider_Name: column('EventSourceName'),
  Computer: column('Computer'),
  ComputerName: column('Computer'),
};

const OFFICE: Places = {
  ...texts(
    'ClientIP ClientInfoString ExternalAccess ModifiedProperties Operation OfficeWorkload OrganizationName OriginatingServer ' +
      'Parameters RecordType ResultStatus UserAgent UserId UserKey UserType',
  ),
  ...structures('OperationProperties'),
  Workload: column('OfficeWorkload'),
};

/** Tables of Log Analytics whose columns rules name. */
const TABLES: Readonly<Record<string, { table: string; places: Places } | undefined>> = {
  'azure/activitylogs': {
    table: 'AzureActivity',
    places: {
      operationName: column('OperationNameValue'),
      ...texts(
        '_ResourceId ActivityStatusValue ActivitySubstatusValue Authorization Caller CallerIpAddress CategoryValue Claims Level ' +
          'OperationName OperationNameValue Properties ResourceGroup ResourceProviderValue',
      ),
    },
  },
  'azure/auditlogs': {
    table: 'AuditLogs',
    places: {
      ...texts(
        'AADOperationType ActivityDisplayName Category Identity LoggedByService OperationName Result ResultDescription ' +
          'ResultReason ResultType',
      ),
      ...structures('AdditionalDetails InitiatedBy TargetResources'),
    },
  },
  'azure/signinlogs': {
    table: 'SigninLogs',
    places: {
      ...texts(
        'AppDisplayName AppId AuthenticationProtocol AuthenticationRequirement ClientAppUsed ConditionalAccessStatus CrossTenantAccessType ' +
          'IPAddress Identity NetworkLocationDetails ResourceDisplayName ResourceId ResultDescription ResultType RiskDetail ' +
          'RiskEventTypes_V2 RiskLevelAggregated RiskLevelDuringSignIn RiskState UserAgent UserPrincipalName UserType',
      ),
      ...structures('DeviceDetail LocationDetails MfaDetail Status'),
    },
  },
  'azure/riskdetection': {
    table: 'AADUserRiskEvents',
    places: {
      riskEventType: column('RiskEventType'),
      ...texts(
        'Activity DetectionTimingType IpAddress RiskDetail RiskEventType RiskLevel RiskState Source UserPrincipalName',
      ),
    },
  },
  'm365/audit': { table: 'OfficeActivity', places: OFFICE },
  'm365/exchange': { table: 'OfficeActivity', places: OFFICE },
};

const CLOUDTRAIL: Places = {
  additionalEventData: column('AdditionalEventData'),
  awsRegion: column('AWSRegion'),
  errorCode: column('ErrorCode'),
  errorMessage: column('ErrorMessage'),
  eventName: column('EventName'),
  eventSource: column('EventSource'),
  eventType: column('EventTypeName'),
  recipientAccountId: column('RecipientAccountId'),
  requestParameters: column('RequestParameters'),
  responseElements: column('ResponseElements'),
  sourceIPAddress: column('SourceIpAddress'),
  userAgent: column('UserAgent'),
  'userIdentity.accessKeyId': column('UserIdentityAccessKeyId'),
  'userIdentity.accountId': column('UserIdentityAccountId'),
  'userIdentity.arn': column('UserIdentityArn'),
  'userIdentity.invokedBy': column('UserIdentityInvokedBy'),
  'userIdentity.principalId': column('UserIdentityPrincipalid'),
  'userIdentity.sessionContext.sessionIssuer.arn': column('SessionIssuerArn'),
  'userIdentity.sessionContext.sessionIssuer.type': column('SessionIssuerType'),
  'userIdentity.sessionContext.sessionIssuer.userName': column('SessionIssuerUserName'),
  'userIdentity.type': column('UserIdentityType'),
  'userIdentity.userName': column('UserIdentityUserName'),
};
const JSON_COLUMNS: Readonly<Record<string, string | undefined>> = {
  additionalEventData: 'AdditionalEventData',
  requestParameters: 'RequestParameters',
  responseElements: 'ResponseElements',
};
/** Lists, whose elements a path without an index does not reach. */
const LISTS = /(?:^|\.)(?:items|policyArns|valuesToAdd|eventSelectors|Grant)(?:\.|$)/;

function cloudTrailPlace(field: string) {
  const known = own(CLOUDTRAIL, field);
  if (known || !isFieldName(field) || LISTS.test(field)) return known;
  const [first = '', ...path] = field.split('.');
  const json = own(JSON_COLUMNS, first);
  return json === undefined ? undefined : column(`tostring(parse_json(${json})${path.map(step).join('')})`);
}

const step = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${kustoText(name)}]`);

/**
 * Returns the events of a log source in Microsoft Sentinel: the parsers of the Advanced Security Information Model, tables of Log
 * Analytics, or else Windows events in `WindowsEvent`.
 */
export function sentinelEvents(source: LogSource): Events {
  const { product, category, service } = source;
  const kind = service === '' ? own(ASIM, category) : undefined;
  if (kind)
    return {
      table: kind.table,
      isMapped: true,
      condition: kind.condition,
      place: (field) => own(kind.places, field),
    };
  const table = own(TABLES, `${product}/${service}`);
  if (table)
    return {
      table: table.table,
      isMapped: true,
      condition: constant(true),
      place: (field) => own(table.places, field),
    };
  if (product === 'aws' && service === 'cloudtrail')
    return { table: 'AWSCloudTrail', isMapped: true, condition: constant(true), place: cloudTrailPlace };
  if (product === 'windows' && service === 'security')
    return {
      table: 'SecurityEvent',
      isMapped: true,
      condition: constant(true),
      place: (field) => own(SECURITY, field),
    };
  const origin = product === 'windows' ? windowsOrigin(source) : undefined;
  if (!origin) throw new Unconvertible('logsource', [product, category, service].filter(Boolean).join('/'));
  const data = (field: string) => column(`tostring(EventData${step(field)})`);
  const columns = { channel: column('Channel'), id: column('EventID', 'number'), type: data('EventType') };
  const system: Places = {
    Channel: columns.channel,
    EventID: columns.id,
    Provider_Name: column('Provider'),
    Computer: column('Computer'),
    // Texts without a name have no property of their own.
    Data: undefined,
  };
  return {
    table: 'WindowsEvent',
    isMapped: true,
    condition: windowsCondition(origin, columns, isExactly),
    place: (field) =>
      Object.hasOwn(system, field)
        ? system[field]
        : isFieldName(field) && !field.includes('.')
          ? data(field)
          : undefined,
  };
}
