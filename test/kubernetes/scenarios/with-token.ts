/** kubectl as whoever holds a token, and nobody else. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { World } from './world.ts';

/** `taken`, or what was said against it. */
export async function doWithToken(world: World, token: string, ...what: readonly string[]): Promise<string> {
  const { server } = world.cluster.cluster;
  const how = ['--kubeconfig=/dev/null', `--server=${server}`, '--insecure-skip-tls-verify', `--token=${token}`];
  return promisify(execFile)(join(world.cluster.programs, 'kubectl'), [...how, ...what]).then(
    () => 'taken',
    ({ stderr }: { stderr: string }) => stderr,
  );
}

/** A token of virt-handler's account: of one of its Pods, or, without a name, of none. */
export function handlerToken(system: World, pod?: string): Promise<string> {
  const bound = pod === undefined ? [] : ['--bound-object-kind=Pod', `--bound-object-name=${pod}`];
  return system.kubectl('create', 'token', 'kubevirt-handler', ...bound);
}
