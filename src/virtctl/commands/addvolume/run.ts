/** Attaches a volume to a machine that runs: one request to its instance, or to the VM when it is to stay. */
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { DEFAULT_HOTPLUG_BUS, HOTPLUG_BUSES } from '../../../api/kubevirt/hotplug.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import type { ClusterDeps } from '../../deps.ts';
import type { LifecycleFlags } from '../../lifecycle/call-subresource.ts';
import { vmName } from '../../vm-target.ts';

export type AddVolumeFlags = LifecycleFlags & {
  readonly volumeName: string;
  readonly persist: boolean;
  readonly serial?: string;
  readonly cache?: string;
  readonly bus?: string;
  readonly diskType?: string;
};

const CACHES = ['none', 'writethrough', 'writeback'] as const;

export async function run(deps: ClusterDeps, flags: AddVolumeFlags, ...words: string[]): Promise<void> {
  const { client, namespace, stdout } = deps;
  const { volumeName, persist, dryRun, serial = volumeName, cache, bus = DEFAULT_HOTPLUG_BUS, diskType = 'disk' } = flags;
  const name = vmName('addvolume', words);
  oneOf('--bus', bus, HOTPLUG_BUSES);
  oneOf('--disk-type', diskType, ['disk']);
  if (cache !== undefined) oneOf('--cache', cache, CACHES);
  if (!(await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: volumeName })))
    throw new ApiError('NotFound', `persistentvolumeclaims "${volumeName}" not found in namespace ${namespace}`);
  const body = {
    name: volumeName,
    disk: { disk: { bus }, serial, ...(cache !== undefined && { cache }) },
    volumeSource: { persistentVolumeClaim: { claimName: volumeName, hotpluggable: true } },
    ...(dryRun && { dryRun: ['All'] }),
  };
  if (dryRun) stdout.write('Dry Run execution\n');
  const resource = persist ? 'virtualmachines' : 'virtualmachineinstances';
  await client.request(subresourcePath({ namespace, resource, name }, 'addvolume'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  stdout.write(`Successfully submitted add volume request to VM ${name} for volume ${volumeName}\n`);
}

function oneOf(flag: string, said: string, known: readonly string[]): void {
  if (known.includes(said)) return;
  throw new UserError('USAGE', `${flag} ${said}: it is ${known.join(', ')}`, { exitCode: 2 });
}
