// Writes the schemas of the kinds that the Helm chart uses, without descriptions and without the status of objects:
//   node extract.mjs VERSION SWAGGER   the OpenAPI document of a version of Kubernetes → kubernetes-VERSION.json
//   node extract.mjs CRD CRD…          custom resources of the Prometheus operator → prometheus-operator.json
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const KINDS = [
  'io.k8s.api.apps.v1.Deployment',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'io.k8s.api.batch.v1.Job',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.core.v1.ServiceAccount',
  'io.k8s.api.networking.v1.Ingress',
  'io.k8s.api.networking.v1.NetworkPolicy',
  'io.k8s.api.policy.v1.PodDisruptionBudget',
];
/** Types whose OpenAPI type is narrower than what the API server accepts. */
const WIDER = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['integer', 'string'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['number', 'string'] },
};
const here = new URL('.', import.meta.url);

const [, , version = '', ...files] = process.argv;
if (/^\d+\.\d+$/.test(version)) {
  const { definitions } = JSON.parse(readFileSync(files[0], 'utf8'));
  write(`kubernetes-${version}.json`, kubernetes(definitions));
} else {
  write('prometheus-operator.json', operator([version, ...files].map((file) => parse(readFileSync(file, 'utf8')))));
}

function kubernetes(definitions) {
  const kept = {};
  const keep = (name) => {
    if (kept[name]) return;
    kept[name] = {};
    kept[name] = WIDER[name] ?? strict(definitions[name], keep);
  };
  for (const name of KINDS) {
    delete definitions[name].properties.status;
    keep(name);
  }
  const kinds = Object.fromEntries(
    KINDS.map((name) => {
      const [{ group, version, kind }] = definitions[name]['x-kubernetes-group-version-kind'];
      return [`${group ? `${group}/` : ''}${version} ${kind}`, { $ref: `#/definitions/${name}` }];
    }),
  );
  return { kinds, definitions: kept };
}

function operator(resources) {
  const kinds = resources.map(({ spec }) => {
    const { name, schema } = spec.versions.find(({ storage }) => storage);
    const { status, ...properties } = schema.openAPIV3Schema.properties;
    // The API server checks the metadata of all objects alike.
    const resource = { ...schema.openAPIV3Schema, properties: { ...properties, metadata: {} } };
    return [`${spec.group}/${name} ${spec.names.kind}`, strict(resource)];
  });
  return { kinds: Object.fromEntries(kinds) };
}

/** Returns a schema that rejects unknown fields, as `kubectl apply --validate=strict` does. */
function strict(schema, onReference = () => {}) {
  const { $ref, type, properties, items, additionalProperties, required, ...rest } = schema;
  if ($ref) {
    onReference($ref.replace('#/definitions/', ''));
    return { $ref };
  }
  if (rest['x-kubernetes-int-or-string']) return { type: ['integer', 'string'] };
  const each = (one) => strict(one, onReference);
  const { enum: words, minimum, maximum, minItems, maxItems, minLength, maxLength } = rest;
  // Flags of Go's expressions are not those of JavaScript.
  const pattern = rest.pattern?.includes('(?i)') ? undefined : rest.pattern;
  const constraints = { enum: words, pattern, minimum, maximum, minItems, maxItems, minLength, maxLength };
  return {
    type,
    ...constraints,
    ...(required && { required }),
    ...(items && { items: each(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, each(one)])),
    }),
    ...(additionalProperties
      ? { additionalProperties: each(additionalProperties) }
      : properties && { additionalProperties: false }),
  };
}

function write(name, schema) {
  writeFileSync(new URL(name, here), `${JSON.stringify(schema)}\n`);
}
