/** The npm package: a tarball for `npm install -g`, by `npm pack` itself. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stagePackage } from './stage-package.ts';

/** Returns the path of the tarball. */
export async function packNpm(options: { readonly into: string; readonly commit: string; readonly version?: string }): Promise<string> {
  const { into, commit, version } = options;
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-package-'));
  try {
    const stage = join(work, 'package');
    await stagePackage({ into: stage, form: 'npm package', commit, version });
    mkdirSync(into, { recursive: true });
    const args = ['pack', stage, '--pack-destination', into, '--ignore-scripts', '--json'];
    const said = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: work });
    return join(into, tarballIn(said));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** npm says it as a list, and since version 12 by the name of the package. */
function tarballIn(said: string): string {
  const packed = Object.values(JSON.parse(said) as Record<string, { filename: string }>);
  const [first] = packed;
  if (!first) throw new Error(`npm pack named no file: ${said}`);
  return first.filename;
}
