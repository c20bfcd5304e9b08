import type { Values } from './helm.ts';

export const MINIMAL: Values = {
  image: { repository: 'registry.example.org/tipline' },
  existingSecret: 'tipline',
};

/** Every optional part is on. */
export const EVERYTHING: Values = {
  image: { repository: 'registry.example.org/tipline', tag: '1.2.3', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  existingSecret: 'tipline',
  secretRefs: { DATABASE_URL: { name: 'db-app', key: 'uri' }, METRICS_TOKEN: { name: 'metrics' } },
  settings: {
    TRUSTED_PROXIES: '10.0.0.0/8',
    PUBLIC_API_RATE_LIMIT_PER_WINDOW: 1_000_000,
    TIPLINE_PUBLIC_ADDRESS: 'https://tipline.example.org',
    OIDC_ISSUER: 'https://id.example.org/realms/soc',
    OIDC_CLIENT_ID: 'tipline',
    OIDC_TRUST_EMAIL: 'on',
    OUTBOUND_NETWORKS: '10.20.0.0/16, 10.30.0.1,fd00::1',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.tracing.svc:4318',
  },
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.pem' }],
  extraVolumes: [{ name: 'ca', configMap: { name: 'company-ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
  tls: { secretName: 'tipline-tls' },
  server: { replicas: 3 },
  worker: { replicas: 2 },
  service: { type: 'LoadBalancer', port: 443, annotations: { 'example.org/balancer': 'internal' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '512m' },
    host: 'tipline.example.org',
    tlsSecretName: 'tipline-public',
  },
  networkPolicy: {
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    dns: [{ podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } }, namespaceSelector: {} }],
    postgresql: { to: [{ podSelector: { matchLabels: { 'cnpg.io/cluster': 'db' } } }], ports: [5432, 6432] },
    redis: { to: [{ ipBlock: { cidr: '10.9.0.0/24' } }] },
    extraEgress: [{ to: [{ ipBlock: { cidr: '10.9.1.7/32' } }], ports: [{ port: 3128 }] }],
  },
  autoscaling: { enabled: true },
  serviceMonitor: {
    enabled: true,
    labels: { release: 'prometheus' },
    tlsConfig: { serverName: 'tipline.example.org' },
  },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  serviceAccountName: 'existing',
  podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: 1_000_660_000 },
  podLabels: { team: 'soc' },
  podAnnotations: { 'example.org/note': 'yes' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
      },
    },
  },
  priorityClassName: 'important',
};

/** Everything with one part off, by the part. */
const WITHOUT: Record<string, Values> = {
  Ingress: { ingress: { enabled: false } },
  'network policies': { networkPolicy: { enabled: false } },
  'a pod disruption budget': { podDisruptionBudget: { enabled: false } },
  autoscaling: { autoscaling: { enabled: false } },
  'service monitors': { serviceMonitor: { enabled: false } },
  'alert rules': { prometheusRule: { enabled: false } },
  TLS: { tls: { secretName: '' } },
  'an existing Secret': {
    existingSecret: '',
    secretRefs: Object.fromEntries(
      ['DATABASE_URL', 'REDIS_URL', 'TIPLINE_SECRET', 'METRICS_TOKEN', 'OIDC_CLIENT_SECRET'].map((name) => [
        name,
        { name: 'tipline-secrets', key: name.toLowerCase() },
      ]),
    ),
  },
  'a ServiceAccount': { serviceAccountName: '' },
  topology: { topologyKeys: [] },
};

/** The valid sets of values, by what is special about them. */
export const VALID: [string, Values][] = [
  ['minimal', MINIMAL],
  ['with everything', EVERYTHING],
  ...Object.entries(WITHOUT).map(([part, values]): [string, Values] => [
    `with everything except ${part}`,
    { ...EVERYTHING, ...values },
  ]),
];

/** The sets that are rejected, with the message. */
export const INVALID: [string, Values, RegExp][] = [
  ['no image', {}, /image\.repository is missing: set it to the registry/],
  [
    'no Secret',
    { image: MINIMAL.image },
    /DATABASE_URL comes from no Secret: set existingSecret to the name of a Secret with DATABASE_URL, or/,
  ],
  [
    'a Secret for one setting only',
    { image: MINIMAL.image, secretRefs: { DATABASE_URL: { name: 'db', key: 'uri' } } },
    /(REDIS_URL|TIPLINE_SECRET) comes from no Secret/,
  ],
  [
    'a monitor without a token',
    {
      ...MINIMAL,
      existingSecret: '',
      secretRefs: { DATABASE_URL: { name: 'a' }, REDIS_URL: { name: 'b' }, TIPLINE_SECRET: { name: 'c' } },
      serviceMonitor: { enabled: true },
    },
    /METRICS_TOKEN comes from no Secret/,
  ],
  ['an Ingress without a host', { ...MINIMAL, ingress: { enabled: true } }, /ingress\.host is missing/],
  ['a setting that is none', { ...MINIMAL, settings: { TIPLINE_SPOL_MB: 1 } }, /TIPLINE_SPOL_MB/],
  ['a secret as a value', { ...MINIMAL, settings: { METRICS_TOKEN: 'a-plain-token-here' } }, /METRICS_TOKEN/],
  ['a setting of the chart', { ...MINIMAL, settings: { PORT: 80 } }, /PORT/],
  ['a setting that must be quoted', { ...MINIMAL, settings: { OIDC_TRUST_EMAIL: true } }, /OIDC_TRUST_EMAIL/],
  ['a value that is none', { ...MINIMAL, ingres: { enabled: true } }, /ingres/],
  ['a wrong type', { ...MINIMAL, server: { replicas: 'two' } }, /replicas/],
  ['a Secret that is none', { ...MINIMAL, secretRefs: { DATABASE_URL: { key: 'uri' } } }, /name/],
];
