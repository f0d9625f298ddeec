/** The product in one file for each kind of processor, with Node: it unpacks itself into the cache folder when it is called for the first time. */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../src/cmd/version.ts';
import { type Architecture, nodeFor } from './node-for.ts';
import { stagePackage } from './stage-package.ts';
import { sha256Of } from './sums.ts';

export type SingleFileOptions = {
  readonly into: string;
  readonly architecture: Architecture;
  readonly commit: string;
  /** Of the commit: the same sources give the same bytes. */
  readonly seconds: number;
};

const HEADER = 'single-file-header.sh';

/** Returns the path of the file. */
export async function writeSingleFile({ into, architecture, commit, seconds }: SingleFileOptions): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-single-'));
  try {
    const stage = join(work, 'stage');
    await stagePackage({ into: stage, form: 'single file', commit });
    addNode(stage, architecture);
    const payload = join(work, 'payload.tar.gz');
    pack(stage, payload, seconds);
    const name = `kubevirt-ts-${VERSION.slice(1)}-linux-${architecture}`;
    const path = join(into, name);
    writeFileSync(path, headerFor({ name, sha256: await sha256Of(payload) }));
    appendTo(path, payload);
    chmodSync(path, 0o755);
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Where the scripts of a package look first. */
export function addNode(stage: string, architecture: Architecture): void {
  mkdirSync(join(stage, 'node/bin'), { recursive: true });
  copyFileSync(nodeFor(architecture), join(stage, 'node/bin/node'));
  chmodSync(join(stage, 'node/bin/node'), 0o755);
}

/** The script that stands before the archive. Its own length is in it. */
export function headerFor({ name, sha256 }: { readonly name: string; readonly sha256: string }): string {
  const text = readFileSync(join(import.meta.dirname, HEADER), 'utf8');
  const lines = text.split('\n').length;
  return text
    .replaceAll('@NAME@', `${name}-${sha256.slice(0, 12)}`)
    .replaceAll('@FIRST_LINE@', String(lines))
    .replaceAll('@ARCHITECTURE@', name.endsWith('arm64') ? 'aarch64' : 'x86_64');
}

function pack(stage: string, into: string, seconds: number): void {
  const output = openSync(into, 'w');
  const fixed = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
  try {
    execFileSync('tar', ['-C', stage, '-c', ...fixed, '--use-compress-program=gzip -n -9', '.'], { stdio: ['ignore', output, 'inherit'] });
  } finally {
    closeSync(output);
  }
}

function appendTo(path: string, payload: string): void {
  const output = openSync(path, 'a');
  try {
    execFileSync('cat', [payload], { stdio: ['ignore', output, 'inherit'] });
  } finally {
    closeSync(output);
  }
}
