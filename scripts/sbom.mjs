import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOTICES, packagesOf } from './third-party.mjs';

/** Files of an image that its bill of materials is made from. */
const STATUS = 'var/lib/dpkg/status';
const STATUS_DIRECTORY = 'var/lib/dpkg/status.d/';
const OS_RELEASE = 'usr/lib/os-release';
const PROGRAM = 'usr/lib/tipline/';
const MANIFEST = /\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/;

/** An SPDX expression, as npm packages and Debian's machine-readable copyright files state licences. */
const EXPRESSION = /^\(*[\w.+-]+\)*( (AND|OR|WITH) \(*[\w.+-]+\)*)*$/;

/** Returns whether the bill of materials of an image is made from this file. */
export function describesContents(path) {
  const isNotice = path.startsWith(PROGRAM) && path.endsWith(`/${NOTICES}`);
  const isManifest = path.startsWith(PROGRAM) && MANIFEST.test(path);
  return [STATUS, OS_RELEASE].includes(path) || isNotice || isManifest || path.startsWith(STATUS_DIRECTORY);
}

/**
 * Returns the software bill of materials of an image, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the npm
 * packages in its bundles and in node_modules, and the packages of Debian, Node.js among them.
 * @param root a directory with the files of the image that `describesContents` selects
 * @param time of the image, in seconds
 */
export function billOfMaterials(root, { version, digest, time }) {
  const system = systemOf(root);
  const npm = [...bundledPackages(root), ...installedPackages(root)].map(npmComponent);
  const debian = debianPackages(root).map((one) => debianComponent(one, system));
  const components = [operatingSystem(system), ...unique([...npm, ...debian])];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: {
        type: 'container',
        'bom-ref': 'image',
        name: 'tipline',
        version,
        licenses: licensesOf('Apache-2.0'),
        purl: `pkg:oci/tipline@${encodeURIComponent(digest)}`,
      },
    },
    components,
    dependencies: [{ ref: 'image', dependsOn: components.map((component) => component['bom-ref']) }],
  };
}

function bundledPackages(root) {
  return ['dist', 'dist/web'].flatMap((directory) =>
    packagesOf(readFileSync(join(root, PROGRAM, directory, NOTICES), 'utf8')),
  );
}

function installedPackages(root) {
  return readdirSync(join(root, PROGRAM), { recursive: true })
    .map((name) => join(PROGRAM, name))
    .filter((path) => MANIFEST.test(path))
    .map((path) => JSON.parse(readFileSync(join(root, path), 'utf8')));
}

function npmComponent({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
  const [, group, local] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name);
  const licenses = license === undefined ? undefined : licensesOf(license);
  return { type: 'library', 'bom-ref': purl, ...(group && { group }), name: local, version, licenses, purl };
}

/** Returns the packages of Debian: one file, or one for each package in images that are built without dpkg. */
function debianPackages(root) {
  const directory = join(root, STATUS_DIRECTORY);
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const files = [join(root, STATUS), ...names.map((name) => join(directory, name))];
  return files
    .filter(existsSync)
    .flatMap((file) => readFileSync(file, 'utf8').split(/\n\n+/))
    .map(fieldsOf)
    .filter(
      ({ Package, Version, Status }) => Package && Version && !/ (deinstall|config-files)/.test(Status),
    );
}

/** Returns the fields of a stanza (deb822(5)), with the first line of each only. */
function fieldsOf(stanza) {
  return Object.fromEntries(
    [...stanza.matchAll(/^([A-Z][\w-]*): *(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
}

function debianComponent(
  { Package: name, Version: version, Architecture: architecture },
  { ID, VERSION_ID },
) {
  const distribution = `${ID}-${VERSION_ID}`;
  const purl = `pkg:deb/${ID}/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}`;
  return { type: name === 'nodejs' ? 'platform' : 'library', 'bom-ref': purl, name, version, purl };
}

function systemOf(root) {
  const text = readFileSync(join(root, OS_RELEASE), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)="?(.*?)"?$/gm)].map(([, name, value]) => [name, value]),
  );
}

function operatingSystem({ ID: name, VERSION_ID: version, PRETTY_NAME: description }) {
  return { type: 'operating-system', 'bom-ref': `${name}-${version}`, name, version, description };
}

function licensesOf(text) {
  return EXPRESSION.test(text) ? [{ expression: text }] : [{ license: { name: text } }];
}

function unique(components) {
  const byRef = new Map(components.map((component) => [component['bom-ref'], component]));
  return [...byRef.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
}

/** Returns a UUID of version 8 (RFC 9562, 5.8) with bits of a digest (sha256:…): the same image has the same one. */
function uuidOf(digest) {
  const hex = digest.replace(/^\w+:/, '').slice(0, 32).split('');
  hex[12] = '8';
  hex[16] = '89ab'[Number.parseInt(hex[16], 16) % 4];
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
