/**
 * The bill of materials of a release (CycloneDX): what npm says of the packages that are bundled, and the Debian packages whose files are
 * in images. The same commit gives the same bytes, wherever and whenever it is made.
 */
import { execFileSync } from 'node:child_process';
import { UserError } from '../../src/base/errors.ts';
import { uuid5 } from '../../src/base/uuid5.ts';
import type { DebianPackage } from '../image/debian-packages.ts';

type Component = {
  readonly 'bom-ref'?: string;
  readonly externalReferences?: readonly { readonly type: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
} & Readonly<Record<string, unknown>>;
export type Sbom = {
  readonly serialNumber?: string;
  readonly metadata?: { readonly timestamp?: string; readonly component?: Component } & Readonly<Record<string, unknown>>;
  readonly components?: readonly Component[];
  readonly dependencies?: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
} & Readonly<Record<string, unknown>>;

const DEVELOPMENT = 'cdx:npm:package:development';
/** Of names that are digests of what they stand for. */
const NAMESPACE = '8f2c1f6e-6d0c-5b7a-9a53-2f7d0f6c9d11';

/** What npm itself says of the lock file in this folder. */
export function npmSbom(project: string): Sbom {
  const why = npmSkipReason();
  if (why) throw new UserError('NPM_TOO_OLD', 'npm cannot write a bill of materials', { why, fix: 'use npm 10.1 or newer' });
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  return JSON.parse(execFileSync('npm', args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 }));
}

/** Why the npm of this machine cannot do it; nothing when it can. */
export function npmSkipReason(): string | undefined {
  const version = npmVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 10 || (major === 10 && minor >= 1) ? undefined : `npm ${version} does not know \`npm sbom\``;
}

/** Of the npm on PATH. */
export function npmVersion(): string {
  return execFileSync('npm', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** The same without what is for development only. npm's own `--omit=dev` also leaves out what both development and the programs need. */
export function withoutDevelopment(sbom: Sbom): Sbom {
  const components = (sbom.components ?? []).filter(
    (each) => !each.properties?.some(({ name, value }) => name === DEVELOPMENT && value === 'true'),
  );
  const kept = new Set([sbom.metadata?.component, ...components].map((each) => each?.['bom-ref']));
  const dependencies = (sbom.dependencies ?? [])
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: (dependsOn ?? []).filter((each) => kept.has(each)) }));
  return { ...sbom, components, dependencies };
}

/**
 * Takes out what differs from run to run or from machine to machine: the time, which becomes that of the commit; the serial number, which
 * becomes one of the content; the name of the folder; and from which mirror somebody has the packages.
 */
export function normaliseSbom(sbom: Sbom, { name, time }: { name: string; time: string }): Sbom {
  const content = {
    ...sbom,
    metadata: { ...sbom.metadata, timestamp: time, component: { ...sbom.metadata?.component, name } },
    components: (sbom.components ?? []).map(withoutMirror),
  };
  delete (content as { serialNumber?: string }).serialNumber; // the copy is ours
  return { ...content, serialNumber: `urn:uuid:${uuid5(NAMESPACE, JSON.stringify(content))}` };
}

/** The same with what images have besides: the Node that runs everything, and Debian packages. */
export function withImageContent(sbom: Sbom, { node, packages }: { node: string; packages: readonly DebianPackage[] }): Sbom {
  const ofDebian = packages.map(({ name, version, architecture }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    return component({ name, version, purl });
  });
  const ofNode = component({ name: 'node', version: node, purl: `pkg:generic/node@${node}` });
  return { ...sbom, components: [...(sbom.components ?? []), ofNode, ...ofDebian] };
}

function component({ name, version, purl }: { name: string; version: string; purl: string }): Component {
  return { 'bom-ref': purl, type: 'library', name, version, scope: 'required', purl };
}

function withoutMirror({ externalReferences, ...rest }: Component): Component {
  return externalReferences ? { ...rest, externalReferences: externalReferences.filter(({ type }) => type !== 'distribution') } : rest;
}
