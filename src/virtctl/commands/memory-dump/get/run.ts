/** Asks for a dump of the memory of a machine; makes the PVC before, where asked to. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../../api/core/volume.ts';
import { VMS } from '../../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpClaimBytesOf } from '../../../../api/kubevirt/memory-dump.ts';
import { subresourcePath } from '../../../../api/kubevirt/subresource-path.ts';
import { ApiError, UserError } from '../../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { type DumpFlags, downloadDump } from '../../../export/download-dump.ts';
import { vmName } from '../../../vm-target.ts';

export type GetFlags = ConnectionFlags & {
  readonly claimName?: string;
  readonly createClaim: boolean;
  readonly storageClass?: string;
  readonly accessMode?: string;
} & DumpFlags;

const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const;
const MIB = 2 ** 20;

export async function run(deps: ClusterDeps, flags: GetFlags, ...words: string[]): Promise<void> {
  const { client, namespace, stdout } = deps;
  const name = vmName('memory-dump get', words);
  const { claimName } = flags;
  if (flags.createClaim) await createClaim(deps, flags, name);
  await client.request(subresourcePath({ namespace, resource: 'virtualmachines', name }, 'memorydump'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(claimName === undefined ? {} : { claimName }),
  });
  stdout.write(`Successfully submitted memory dump request of VM ${name}\n`);
  if (flags.output !== undefined) await downloadDump(deps, name, flags);
}

/** The last one goes when the next is whole. */
const DUMPS = 2;

async function createClaim({ client, namespace, stdout }: ClusterDeps, flags: GetFlags, vm: string): Promise<void> {
  const { claimName, storageClass, accessMode = 'ReadWriteOnce' } = flags;
  if (claimName === undefined)
    throw new UserError('USAGE', '--create-claim needs --claim-name: how the PVC is to be called', { exitCode: 2 });
  if (!ACCESS_MODES.some((each) => each === accessMode))
    throw new UserError('USAGE', `--access-mode ${accessMode}: it is ${ACCESS_MODES.join(', ')}`, { exitCode: 2 });
  const [machine, vmi] = await Promise.all([client.get(VMS, { namespace, name: vm }), client.get(VMIS, { namespace, name: vm })]);
  const last = machine?.status?.memoryDumpRequest?.claimName;
  if (last !== undefined)
    throw new ApiError(
      'Conflict',
      `PVC ${last} is associated with VM ${vm} for its memory dumps: virtctl memory-dump remove lets go of it`,
    );
  if (!vmi) throw new ApiError('NotFound', `virtualmachineinstances.kubevirt.io "${vm}" not found: only a machine that runs has memory`);
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: claimName },
    spec: {
      accessModes: [accessMode],
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: `${dumpClaimBytesOf(vmi.spec, DUMPS) / MIB}Mi` } },
    },
  };
  await client.create(PERSISTENT_VOLUME_CLAIMS, claim);
  stdout.write(`PVC ${namespace}/${claimName} created\n`);
}
