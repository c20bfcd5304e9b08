import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import {
  CHART,
  HELM,
  HELMS,
  hasNotes,
  helm,
  type KubernetesObject,
  notesOf,
  objectsIn,
  podOf,
  render,
  renderText,
  type Values,
  withValues,
} from './helm.ts';
import { problemsOf } from './kubernetes-schemas.ts';
import { EVERYTHING, INVALID, MINIMAL, VALID } from './values.ts';

const SETTING_NAMES = new Set((Object.values(SETTINGS) as Setting[]).map(({ name }) => name));
/** Variables of Node.js, not of Tipline. */
const OTHER_VARIABLES = ['TMPDIR', 'NODE_EXTRA_CA_CERTS'];

const named = (objects: KubernetesObject[], kind: string, name: string) => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
};
const pods = (objects: KubernetesObject[]) =>
  objects.flatMap((object) => {
    const pod = podOf(object);
    return pod
      ? [{ object, labels: pod.metadata.labels, spec: pod.spec, container: pod.spec.containers[0] }]
      : [];
  });
const selects = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
const variable = (objects: KubernetesObject[], component: string, name: string) =>
  podOf(named(objects, 'Deployment', `soc-tipline-${component}`))?.spec.containers[0].env.find(
    (one) => one.name === name,
  );
const egressOf = (objects: KubernetesObject[], component: string) =>
  JSON.stringify(named(objects, 'NetworkPolicy', `soc-tipline-${component}`).spec.egress);

// Where there is no helm, .ci/run has printed that.
describe.skipIf(HELMS.length === 0)('the rendered chart', () => {
  describe.each(VALID)('%s', (_, values) => {
    let text: string;
    let objects: KubernetesObject[];
    beforeAll(() => {
      text = renderText(values);
      objects = objectsIn(text);
    });

    it('passes lint', () => {
      expect(helm(HELM, 'lint', '--strict', CHART, ...withValues(values))).toContain('0 chart(s) failed');
    });

    it('is valid in the oldest and the newest version of Kubernetes, without unknown fields', () => {
      expect(objects.flatMap(problemsOf)).toEqual([]);
    });

    it('renders the same again', () => {
      expect(renderText(values)).toBe(text);
    });

    it('has no two objects of one kind and name, and no Secret', () => {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
    });

    it('fulfils the restricted profile of the pod security standards', () => {
      for (const { spec, container } of pods(objects)) {
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
      }
      expect(pods(objects)).toHaveLength(3);
    });

    it('bounds the resources of every container, and probes every one that serves', () => {
      for (const { object, container } of pods(objects)) {
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
        const { startupProbe, livenessProbe, readinessProbe } = container;
        const probes = [startupProbe, livenessProbe, readinessProbe];
        expect(probes.map((probe) => probe?.httpGet.path)).toEqual(
          object.kind === 'Job' ? Array(3) : ['/api/health', '/api/health', '/api/health/ready'],
        );
        const ports = container.ports?.map(({ name }) => name) ?? [];
        for (const probe of probes) if (probe) expect(ports).toContain(probe.httpGet.port);
      }
    });

    it('sets only variables that are settings, each once', () => {
      for (const { container } of pods(objects)) {
        const names = container.env.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(names.filter((name) => !SETTING_NAMES.has(name) && !OTHER_VARIABLES.includes(name))).toEqual(
          [],
        );
      }
    });

    it('writes to its volume, as the root file system is read-only, and listens on the port of the container', () => {
      for (const { object, spec, container } of pods(objects)) {
        if (object.kind === 'Job') continue;
        const variableOf = (name: string) => container.env.find((one) => one.name === name)?.value;
        const { name } = spec.volumes?.find(({ emptyDir }) => emptyDir) ?? {};
        const path = container.volumeMounts?.find((mount) => mount.name === name)?.mountPath;
        expect([variableOf('TMPDIR'), variableOf('TIPLINE_DATA_DIR')]).toEqual([path, `${path}/data`]);
        const port = variableOf('PORT') ?? variableOf('WORKER_PORT');
        expect(container.ports?.map(({ containerPort }) => String(containerPort))).toEqual([port]);
      }
    });

    it('mounts volumes that exist', () => {
      for (const { spec, container } of pods(objects)) {
        const volumes = spec.volumes?.map(({ name }) => name) ?? [];
        expect(volumes).toEqual(container.volumeMounts?.map(({ name }) => name) ?? []);
      }
    });

    it('selects pods of the chart: Services and their ports, Deployments, budgets, policies, autoscalers', () => {
      const all = pods(objects);
      for (const object of objects) {
        const { kind, spec } = object;
        const selector =
          kind === 'Service'
            ? spec.selector
            : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels);
        if (!selector || kind === 'ServiceMonitor') continue;
        const selected = all.filter(({ labels }) => selects(selector, labels));
        expect(selected, `${kind} ${object.metadata.name}`).toHaveLength(1);
        const ports = selected[0]?.container.ports?.map(({ name }) => name) ?? [];
        for (const { targetPort } of kind === 'Service' ? spec.ports : [])
          expect(ports).toContain(targetPort);
        for (const rule of (kind === 'NetworkPolicy' && spec.ingress) || [])
          expect(ports).toEqual(rule.ports.map(({ port }: { port: string }) => port));
      }
      for (const { spec } of objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler'))
        named(objects, spec.scaleTargetRef.kind, spec.scaleTargetRef.name);
    });

    it('leads an Ingress and ServiceMonitors to ports of its Services', () => {
      const services = objects.filter(({ kind }) => kind === 'Service');
      for (const { kind, spec } of objects) {
        if (kind === 'Ingress') {
          const { name, port } = spec.rules[0].http.paths[0].backend.service;
          expect(named(services, 'Service', name).spec.ports[0].name).toBe(port.name);
        }
        if (kind === 'ServiceMonitor') {
          const [service, ...more] = services.filter(({ metadata }) =>
            selects(spec.selector.matchLabels, metadata.labels),
          );
          expect(more).toEqual([]);
          expect(service?.spec.ports[0].name).toBe(spec.endpoints[0].port);
        }
      }
    });

    it('has a policy for each pod, unless they are off', () => {
      const isOn = (values.networkPolicy as { enabled?: boolean } | undefined)?.enabled ?? true;
      const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
      expect(policies).toHaveLength(isOn ? 3 : 0);
      for (const { spec } of policies) expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    });

    it('needs nothing for its migrations that Helm creates after them', () => {
      const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
      expect(hooks.map(({ kind }) => kind).filter((kind) => kind !== 'NetworkPolicy')).toEqual(['Job']);
      const created = objects.find(({ kind }) => kind === 'ServiceAccount');
      const job = named(objects, 'Job', 'soc-tipline-migrate');
      expect(podOf(job)?.spec.serviceAccountName).toBe(created ? undefined : values.serviceAccountName);
    });
  });

  it.each(INVALID)('rejects %s', (_, values, message) => {
    expect(() => render(values)).toThrow(message);
  });

  it('leaves out the parts that are off', () => {
    const kindsOf = (values: Values) => new Set(render(values).map(({ kind }) => kind));
    const minimal = kindsOf(MINIMAL);
    const absent = [...kindsOf({ ...EVERYTHING, serviceAccountName: '' })].filter(
      (kind) => !minimal.has(kind),
    );
    expect(absent.sort()).toEqual(['HorizontalPodAutoscaler', 'Ingress', 'PrometheusRule', 'ServiceMonitor']);
    const without = {
      ...MINIMAL,
      podDisruptionBudget: { enabled: false },
      networkPolicy: { enabled: false },
    };
    expect([...minimal].filter((kind) => !kindsOf(without).has(kind)).sort()).toEqual([
      'NetworkPolicy',
      'PodDisruptionBudget',
    ]);
  });

  it('writes large numbers as the settings have them', () => {
    const objects = render(EVERYTHING);
    expect(variable(objects, 'server', 'PUBLIC_API_RATE_LIMIT_PER_WINDOW')?.value).toBe('1000000');
    const pod = podOf(named(objects, 'Deployment', 'soc-tipline-server'));
    expect(pod?.spec.securityContext).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      fsGroup: 1_000_660_000,
    });
  });

  it('reads each secret setting from a Secret: of its own, or that of all', () => {
    const objects = render(EVERYTHING);
    const secrets = podOf(named(objects, 'Deployment', 'soc-tipline-server'))?.spec.containers[0].env.flatMap(
      ({ name, valueFrom }) => (valueFrom ? [[name, valueFrom.secretKeyRef]] : []),
    );
    expect(Object.fromEntries(secrets ?? [])).toEqual({
      DATABASE_URL: { name: 'db-app', key: 'uri' },
      DATABASE_REPLICA_URLS: { name: 'tipline', key: 'DATABASE_REPLICA_URLS', optional: true },
      METRICS_TOKEN: { name: 'metrics', key: 'METRICS_TOKEN' },
      OIDC_CLIENT_SECRET: { name: 'tipline', key: 'OIDC_CLIENT_SECRET' },
      REDIS_URL: { name: 'tipline', key: 'REDIS_URL' },
      TIPLINE_SECRET: { name: 'tipline', key: 'TIPLINE_SECRET' },
      TIPLINE_TLS_PASSPHRASE: { name: 'tipline', key: 'TIPLINE_TLS_PASSPHRASE', optional: true },
    });
  });

  it('gives a server the time that it needs to stop', () => {
    const objects = render({ ...MINIMAL, server: { shutdownDelaySeconds: 45 } });
    expect(variable(objects, 'server', 'TIPLINE_SHUTDOWN_DELAY_SECONDS')?.value).toBe('45');
    const pod = podOf(named(objects, 'Deployment', 'soc-tipline-server'));
    expect(pod?.spec.terminationGracePeriodSeconds).toBe(75);
  });

  it('lets a server notice within its shutdown delay that it is not ready', () => {
    const objects = render(MINIMAL);
    const pod = podOf(named(objects, 'Deployment', 'soc-tipline-server'));
    const { periodSeconds = 0, failureThreshold = 0 } = pod?.spec.containers[0].readinessProbe ?? {};
    const delay = Number(variable(objects, 'server', 'TIPLINE_SHUTDOWN_DELAY_SECONDS')?.value);
    expect(periodSeconds * failureThreshold).toBeLessThanOrEqual(delay);
  });

  it('lets only the worker connect to feeds, and a server only to its OpenID provider', () => {
    const [minimal, everything] = [render(MINIMAL), render(EVERYTHING)];
    expect(egressOf(minimal, 'worker')).toContain('"0.0.0.0/0"');
    for (const component of ['server', 'migrate']) expect(egressOf(minimal, component)).not.toContain('cidr');
    expect(egressOf(everything, 'server')).toContain('"0.0.0.0/0"');
    expect(egressOf(everything, 'migrate')).not.toContain('"0.0.0.0/0"');
  });

  it('lets Prometheus read the metrics of servers whose clients are listed', () => {
    const peer = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    const [server, worker] = ['server', 'worker'].map(
      (component) => named(render(EVERYTHING), 'NetworkPolicy', `soc-tipline-${component}`).spec,
    );
    expect(server.ingress[0].from).toEqual([peer('ingress'), peer('monitoring')]);
    expect(worker.ingress[0].from).toEqual([peer('monitoring')]);
  });

  it('lets the worker connect to the private networks of OUTBOUND_NETWORKS, and to the collector of traces', () => {
    const egress = egressOf(render(EVERYTHING), 'worker');
    for (const cidr of ['10.20.0.0/16', '10.30.0.1/32', 'fd00::1/128'])
      expect(egress).toContain(`{"ipBlock":{"cidr":"${cidr}"}}`);
    expect(egress).toContain('{"ports":[{"port":4318}]}');
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.org/v1' };
    expect(egressOf(render({ ...MINIMAL, settings }), 'server')).toContain('{"ports":[{"port":443}]}');
  });

  it('serves HTTPS everywhere with a certificate', () => {
    const objects = render(EVERYTHING);
    for (const component of ['server', 'worker']) {
      const { livenessProbe, readinessProbe } =
        podOf(named(objects, 'Deployment', `soc-tipline-${component}`))?.spec.containers[0] ?? {};
      expect([livenessProbe, readinessProbe].map((probe) => probe?.httpGet.scheme)).toEqual([
        'HTTPS',
        'HTTPS',
      ]);
      expect(named(objects, 'ServiceMonitor', `soc-tipline-${component}`).spec.endpoints[0]).toMatchObject({
        scheme: 'https',
        tlsConfig: { serverName: 'tipline.example.org' },
      });
      expect(variable(objects, component, 'TIPLINE_TLS_CERT')?.value).toBe('/etc/tipline/tls/tls.crt');
    }
  });

  it('names the jobs as the alert rules expect, and keeps these to its own namespace', () => {
    const objects = render(EVERYTHING);
    const { groups } = named(objects, 'PrometheusRule', 'soc-tipline').spec;
    const original = readFileSync(`${CHART}files/alerts.yml`, 'utf8');
    const selector = 'job=~"tipline.*"';
    expect(groups).toEqual(parse(original.replaceAll(selector, `${selector}, namespace="intel"`)).groups);
    const jobs = objects
      .filter(({ kind }) => kind === 'ServiceMonitor')
      .map(({ spec }) => spec.endpoints[0].relabelings[0].replacement);
    expect(jobs.sort()).toEqual(['tipline', 'tipline-worker']);
  });

  it('takes a digest before a tag', () => {
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
    const image = { repository: 'registry.example.org/tipline', tag: '1', digest };
    for (const { container } of pods(render({ ...MINIMAL, image })))
      expect(container.image).toBe(`registry.example.org/tipline@${digest}`);
  });

  it('names all objects after the release, within the limit of 63 characters', () => {
    const fullnameOverride = 'a-name-that-is-as-long-as-the-schema-lets-it-be-and-then-longer';
    for (const { metadata } of render({ ...MINIMAL, fullnameOverride }))
      expect(metadata.name.length).toBeLessThanOrEqual(63);
  });

  describe.each(HELMS.filter((program) => program !== HELM))('by %s', (program) => {
    it.each(VALID)('is the same: %s', (_, values) => {
      expect(renderText(values, { program })).toBe(renderText(values));
    });

    it.each(INVALID)('is rejected: %s', (_, values, message) => {
      expect(() => renderText(values, { program })).toThrow(message);
    });
  });

  it.skipIf(!hasNotes)('has in its notes the commands of docs/installing.md', () => {
    const docs = readFileSync(new URL('../../docs/installing.md', import.meta.url), 'utf8');
    const [, commands = ''] = docs.match(/^helm install .*\n([^`]+)```/m) ?? [];
    const notes = notesOf(MINIMAL).replaceAll('soc-tipline', 'tipline').replaceAll('intel', 'tipline');
    const lines = notes.split('\n').map((line) => line.trim());
    expect(lines).toEqual(expect.arrayContaining(commands.trimEnd().split('\n')));
  });

  it.skipIf(!hasNotes)('warns in its notes of an Ingress whose addresses are not trusted', () => {
    const notes = (settings: object) =>
      notesOf({ ...MINIMAL, ingress: { enabled: true, host: 'tipline.example.org' }, settings });
    expect(notes({})).toContain('settings.TRUSTED_PROXIES is not set');
    expect(notes({ TRUSTED_PROXIES: '10.0.0.0/8' })).not.toContain('is not set');
  });
});
