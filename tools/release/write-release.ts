/** Everything of a release in one folder: executables, packages and images when asked for, bill of materials, provenance, sums and their signature. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { buildImages } from '../image/build-images.ts';
import { bundle } from './bundle.ts';
import { writeDebianPackage } from './debian-package.ts';
import { writeHelmChart } from './helm-chart.ts';
import { packNpm } from './pack-npm.ts';
import { provenanceOf } from './provenance.ts';
import { normaliseSbom, npmSbom, npmVersion, withImageContent, withoutDevelopment } from './sbom.ts';
import { signSums } from './signature.ts';
import { writeSingleFile } from './single-file.ts';
import { digestFiles, type FileDigest, formatSums, sha256Of } from './sums.ts';

export type ReleaseOptions = {
  readonly into: string;
  /** What the provenance calls the machine or service that builds. */
  readonly builder: string;
  /** With what people install: see stage-package.ts. */
  readonly packages?: boolean;
  /** The names of images begin with it; without it there are none. */
  readonly images?: { readonly registry: string; readonly tag: string } | undefined;
  /** PEM of the private key that signs. */
  readonly signWith?: string | undefined;
};

const PROJECT = resolve(import.meta.dirname, '../..');
const SBOM = 'sbom.cdx.json';
const PROVENANCE = 'provenance.json';
export const SUMS = 'SHA256SUMS';
export const SIGNATURE = 'SHA256SUMS.sig';

/** Builds the release and returns its files with their digests. What an earlier release left in the folder under these names is replaced. */
export async function writeRelease({ into, builder, packages = false, images, signWith }: ReleaseOptions): Promise<FileDigest[]> {
  const source = readSource();
  if (signWith !== undefined && !source.isClean)
    throw new UserError('TREE_NOT_CLEAN', 'a release of changed files is not signed', {
      why: 'this is no clone, or it has changes that are in no commit',
      fix: 'commit them, or build without --sign',
    });
  mkdirSync(into, { recursive: true });
  for (const name of [SBOM, PROVENANCE, SUMS, SIGNATURE]) rmSync(join(into, name), { force: true });
  const bundles = await bundle(into);
  const packed = packages ? await writePackages(into, source) : [];
  const built = images ? await buildImages({ ...images, into: join(into, 'images') }) : [];

  const npm = withoutDevelopment(npmSbom(PROJECT));
  const ofDebian = new Map(built.flatMap(({ debianPackages }) => debianPackages).map((each) => [each.name, each]));
  const all = images ? withImageContent(npm, { node: process.versions.node, packages: [...ofDebian.values()] }) : npm;
  writeJson(join(into, SBOM), normaliseSbom(all, { name: 'kubevirt-ts', time: source.time }));
  const made = [...bundles.values(), ...packed, ...built.map(({ archive }) => archive)].map((path) => relative(into, path));
  const subjects = await digestFiles(into, [...made, SBOM]);
  const flags = [...(packages ? ['--packages'] : []), ...(images ? [`--images --registry ${images.registry} --tag ${images.tag}`] : [])];
  const command = ['npm run build', ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
  const lockSha256 = await sha256Of(join(PROJECT, 'package-lock.json'));
  writeJson(join(into, PROVENANCE), provenanceOf(subjects, { ...source, command, builder, lockSha256, tools: toolVersions() }));

  const files = await digestFiles(into, [...subjects.map(({ name }) => name), PROVENANCE]);
  writeFileSync(join(into, SUMS), formatSums(files));
  if (signWith !== undefined) writeFileSync(join(into, SIGNATURE), signSums(readFileSync(join(into, SUMS)), signWith));
  return files;
}

/** Everything that people install; needs what npm and apt bring. */
async function writePackages(into: string, { commit, time }: Source): Promise<string[]> {
  const seconds = Date.parse(time) / 1000;
  const made = [await packNpm({ into, commit }), writeHelmChart({ into, seconds })];
  for (const architecture of ['x64', 'arm64'] as const) {
    const options = { into, architecture, commit, seconds };
    made.push(await writeSingleFile(options), await writeDebianPackage(options));
  }
  return made;
}

type Source = { readonly commit: string; readonly time: string; readonly isClean: boolean };

/** What is not a clone can be built, too; nobody can say then what it is. */
function readSource(): Source {
  if (!existsSync(join(PROJECT, '.git'))) return { commit: 'unknown', time: new Date(0).toISOString(), isClean: false };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', `safe.directory=${PROJECT}`, ...args], { cwd: PROJECT, encoding: 'utf8' }).trim();
  const [commit = '', seconds = ''] = git('show', '--no-patch', '--format=%H %ct', 'HEAD').split(' ');
  return { commit, time: new Date(Number(seconds) * 1000).toISOString(), isClean: git('status', '--porcelain') === '' };
}

function toolVersions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'node_modules/esbuild/package.json'), 'utf8'));
  return { node: process.version, npm: npmVersion(), esbuild: version };
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
