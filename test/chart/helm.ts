import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import { temporaryDirectory } from '../support/directories.ts';

export const CHART = fileURLToPath(new URL('../../packaging/helm/tipline/', import.meta.url));

/** The programs that render the chart: those of HELM, separated by colons, or the one in PATH. */
export const HELMS = (process.env.HELM?.split(delimiter) ?? ['helm']).filter(
  (program) => spawnSync(program, ['version']).status === 0,
);

/** The newest of them: Helm 4 also renders the notes without a cluster. */
export const HELM = HELMS.toSorted((a, b) => versionOf(b).localeCompare(versionOf(a)))[0] ?? '';
export const hasNotes = HELM !== '' && versionOf(HELM).startsWith('v4');

function versionOf(program: string): string {
  return helm(program, 'version', '--short');
}

export type Values = { readonly [name: string]: unknown };

interface Container {
  name: string;
  image: string;
  args: string[];
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  ports?: { name: string; containerPort: number }[];
  resources: object;
  securityContext: object;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}

interface Probe {
  httpGet: { path: string; port: string; scheme: string };
  periodSeconds: number;
  failureThreshold: number;
}

export interface PodSpec {
  containers: [Container];
  volumes?: { name: string; emptyDir?: { sizeLimit: string } }[];
  enableServiceLinks?: boolean;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  serviceAccountName?: string;
  securityContext: object;
}

type Labels = Record<string, string>;

/** An object of Kubernetes, with the fields that the tests read. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Labels; annotations?: Labels };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another one, which the schemas of Kubernetes check
  spec?: any;
}

/** @throws with the output of helm when it fails */
export function helm(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, HOME: temporaryDirectory() },
  });
  if (status !== 0) throw new Error(`helm ${args[0]} ended with ${status}: ${stderr}${stdout}`);
  return stdout;
}

/** Returns the arguments that pass values, in a file. Helm and Kubernetes read YAML 1.1, where a bare `on` is true. */
export function withValues(values: Values): string[] {
  const file = join(temporaryDirectory(), 'values.yaml');
  writeFileSync(file, stringify(values, { version: '1.1' }));
  return ['--values', file];
}

/** Returns the text that helm renders; @throws with its message when it rejects the values */
export function renderText(values: Values, { program = HELM, chart = CHART } = {}): string {
  return helm(program, 'template', 'soc', chart, '--namespace', 'intel', ...withValues(values));
}

/** Returns the rendered objects. */
export const render = (values: Values) => objectsIn(renderText(values));

export function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** Returns the notes that helm prints after an installation. */
export function notesOf(values: Values): string {
  const args = ['soc', CHART, '--namespace', 'intel', '--dry-run=client', ...withValues(values)];
  return helm(HELM, 'install', ...args).split('\nNOTES:\n')[1] ?? '';
}

/** Returns the template of the pods of an object, if it has one. */
export function podOf({
  spec,
}: KubernetesObject): { metadata: { labels: Labels }; spec: PodSpec } | undefined {
  return spec?.template;
}
