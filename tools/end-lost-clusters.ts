/** Ends embedded clusters of test files that were killed, by a limit or by somebody: what starts a cluster is not there any more to take it down. */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasLostItsOwner } from './owned-folder.ts';

/** How the folders of embedded clusters of tests begin. */
export const EMBEDDED_CLUSTERS = 'kubevirt-ts-e2e-';
const VIRTCTL = resolve(import.meta.dirname, '../bin/virtctl');
const LIMIT_MS = 120_000;

/** Says which; one that does not end stays, with its folder, and is named. */
export function endLostClusters(parent = tmpdir()): void {
  const lost = readdirSync(parent).filter((name) => name.startsWith(EMBEDDED_CLUSTERS) && hasLostItsOwner(join(parent, name)));
  for (const folder of lost.map((name) => join(parent, name))) {
    const env = { ...process.env, VIRT_HOME: join(folder, 'data') };
    const { status } = spawnSync(VIRTCTL, ['down', '--purge'], { env, timeout: LIMIT_MS, stdio: 'ignore' });
    if (status === 0) rmSync(folder, { recursive: true, force: true });
    console.error(`note: ${folder} was left behind and ${status === 0 ? 'is taken down' : 'does not end'}`);
  }
}
