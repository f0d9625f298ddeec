/**
 * The product as a folder that works wherever it is put, without a clone: programs, the SDK, the web page, the documentation, manifests, examples and the demo guests. What people
 * install is this folder: as an npm package, as a Debian package or in one file.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { VERSION } from '../../src/cmd/version.ts';
import { buildDocs } from '../docs/build.ts';
import { buildUi } from '../ui/build.ts';
import { bundleForPackage } from './bundle.ts';
import { SDK_EXPORTS, stageSdk } from './sdk.ts';

export type PackageForm = 'npm package' | 'Debian package' | 'single file';
export type StageOptions = {
  readonly into: string;
  readonly form: PackageForm;
  readonly commit: string;
  /** Other words for the version: an upgrade is tried with two releases of the same sources. */
  readonly version?: string | undefined;
};

const PROJECT = resolve(import.meta.dirname, '../..');
/** Programs that people call, and those that the embedded cluster starts. */
const CALLED = ['virtctl', 'kubectl-virt', 'vmctl'];
const STARTED = ['virt-importer', 'virt-launcher'];
const GUESTS = ['tiny', 'tiny32'];

/** Writes the folder; what was there is replaced. */
export async function stagePackage({ into, form, commit, version }: StageOptions): Promise<void> {
  rmSync(into, { recursive: true, force: true });
  for (const folder of ['bin', 'script', 'guests']) mkdirSync(join(into, folder), { recursive: true });
  await bundleForPackage(join(into, 'lib'), { version });
  await buildUi(join(into, 'page'));
  await buildDocs(join(into, 'docs'));
  await stageSdk(into);
  for (const name of [...CALLED, ...STARTED]) {
    writeFileSync(join(into, 'bin', name), ofPackage(readFileSync(join(PROJECT, 'bin', name), 'utf8')));
    chmodSync(join(into, 'bin', name), 0o755);
  }
  for (const [from, to] of [
    ['tools/release/node-of-package.sh', 'script/node.sh'],
    ['deploy', 'deploy'],
    ['src/cmd/embedded/manifests', 'embedded-manifests'],
    ['examples', 'examples'],
    ['LICENSE', 'LICENSE'],
    ['README.md', 'README.md'],
  ] as const)
    cpSync(join(PROJECT, from), join(into, to), { recursive: true });
  for (const guest of GUESTS) {
    const layout = execFileSync(process.execPath, ['tools/guest-image/build.ts', guest], { cwd: PROJECT, encoding: 'utf8' }).trim();
    cpSync(layout, join(into, 'guests', basename(layout)), { recursive: true });
  }
  execFileSync('chmod', ['-R', 'a+rX', into]); // whoever installs it is not whoever uses it
  writeJson(join(into, 'release.json'), { version: version ?? VERSION, form, commit });
  writeJson(join(into, 'package.json'), manifest(version ?? VERSION));
}

/** A script of bin/ for where the code is in lib/. */
function ofPackage(script: string): string {
  return script.replace(/src\/cmd\/([\w-]+)\.ts/, 'lib/$1.mjs');
}

/** What npm reads. Everything is bundled: nothing else is fetched, and nothing runs while it is installed. */
function manifest(version: string): object {
  const { name, description, license, type, engines } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const bin = Object.fromEntries(CALLED.map((program) => [program, `bin/${program}`]));
  return {
    name,
    version: version.replace(/^v/, ''),
    description,
    license,
    type,
    engines,
    os: ['linux'],
    cpu: ['x64', 'arm64'],
    bin,
    exports: SDK_EXPORTS,
  };
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
