/** Images under the names that manifests have, in the registry that every node asks for everything. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { readIndex } from '../../src/images/layout.ts';
import { pushImage } from '../../src/images/push.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** The layout of a guest; built when it is not in the cache. */
export function buildGuest(guest = 'tiny'): string {
  return execFileSync(process.execPath, ['tools/guest-image/build.ts', guest], { cwd: PROJECT, encoding: 'utf8' }).trim();
}

/** Serves a guest under a name such as `kubevirt/cirros-container-disk-demo:latest`, of whatever registry. */
export async function pushGuest(cluster: RealCluster, guest: string, name: string): Promise<void> {
  const dir = buildGuest(guest);
  const [repository = '', tag = ''] = name.split(':');
  for (const descriptor of readIndex(dir)) await pushImage({ dir, descriptor, registry: `http://${cluster.registry}`, repository, tag });
}

/** Serves an image that every node has under one more name. */
export async function pushAs(cluster: RealCluster, image: string, name: string): Promise<void> {
  await cluster.exec('node1', ['ctr', '-n', 'k8s.io', 'images', 'push', '--plain-http', `${cluster.registry}/${name}`, image]);
}
