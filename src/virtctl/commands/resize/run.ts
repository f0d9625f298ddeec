/** Makes the disk of a machine larger: asks its PVC for more; the disk of a guest that runs follows at once, else when it starts. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim, whyNotResized } from '../../../api/core/volume.ts';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { claimOf, isHotpluggable } from '../../../api/kubevirt/volumes/source-of.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { parseAmount } from '../../create/parse-amount.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { vmName } from '../../vm-target.ts';

export async function run(
  deps: ClusterDeps,
  flags: ConnectionFlags & { readonly disk?: string },
  machine: string,
  said: string,
): Promise<void> {
  const { client, namespace, stdout } = deps;
  const name = vmName('resize', [machine]);
  const size = parseAmount('SIZE', said);
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  const isRunning = vmi !== undefined && !isFinal(vmi);
  const { filesystems = [] } = vm.spec.template.spec.domain.devices;
  const folders = new Set(filesystems.map(({ name: volume }) => volume));
  const disks = (vm.spec.template.spec.volumes ?? []).flatMap((volume) => {
    const claim = claimOf(volume);
    return claim && !claim.isReadOnly && !folders.has(volume.name)
      ? [{ disk: volume.name, claim: claim.claimName, isPlugged: isHotpluggable(volume) }]
      : [];
  });
  const { disk, claim: claimName, isPlugged } = choose(disks, { name, ...(flags.disk !== undefined && { wanted: flags.disk }) });
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: claimName });
  if (!claim) throw new ApiError('NotFound', `the PVC ${claimName} of disk ${disk} does not exist in namespace ${namespace}`);
  const isTakenBack = mustGrow(claim, size) === 'back';
  await client.patch(PERSISTENT_VOLUME_CLAIMS, claim.metadata, { spec: { resources: { requests: { storage: size } } } });
  const whyNot = await refusalOf(deps, claim, size);
  if (whyNot !== undefined)
    throw new UserError('DISK_NOT_GROWN', `disk ${disk} of ${name} (PVC ${claimName}) does not grow to ${size}`, {
      why: whyNot,
      fix: `ask for less; virtctl resize ${name} ${claim.status?.capacity?.['storage'] ?? 'SIZE'} takes it back`,
    });
  const when = !isRunning ? 'when it starts' : isPlugged ? 'when it is attached the next time' : 'while it runs';
  const what = isTakenBack
    ? `keeps ${size}, and what was asked before is taken back`
    : `grows to ${size} ${when}; its file system is the guest's to grow`;
  stdout.write(`disk ${disk} of ${name} (PVC ${claimName}) ${what}\n`);
}

const LOOK_MS = 250;
const LOOKS = 8;

/** Why the storage does not give it; undefined when it has, or says nothing for two seconds: some take longer. */
async function refusalOf({ client, clock }: ClusterDeps, before: PersistentVolumeClaim, size: string): Promise<string | undefined> {
  const said = before.spec.resources?.requests?.['storage'] === size ? undefined : whyNotResized(before); // of another size
  for (let looks = 0; looks < LOOKS; looks++) {
    const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, before.metadata);
    if (!claim || bytesOf(claim.status?.capacity?.['storage']) >= bytesOf(size)) return undefined;
    const why = whyNotResized(claim);
    if (why !== undefined && why !== said) return why;
    await clock.sleep(LOOK_MS);
  }
  return undefined;
}

type Disk = { readonly disk: string; readonly claim: string; readonly isPlugged: boolean };

function choose(disks: readonly Disk[], { name, wanted }: { readonly name: string; readonly wanted?: string }): Disk {
  const found = wanted === undefined ? disks : disks.filter(({ disk }) => disk === wanted);
  const [first, ...more] = found;
  if (first && more.length === 0) return first;
  const names = disks.map(({ disk }) => disk).join(', ');
  throw new UserError('USAGE', first ? `${name} has several disks: ${names}` : `${name} has no disk ${wanted ?? 'of its own'}`, {
    why: first ? 'only one can be made larger at a time' : names ? `its disks are ${names}` : 'what boots from an image alone has none',
    fix: first ? `add --disk ${first.disk}` : `virtctl describe ${name}`,
    exitCode: 2,
  });
}

/** What a PVC was asked for and was not given can be taken back, to what it has. */
function mustGrow({ metadata, spec, status }: PersistentVolumeClaim, size: string): 'grow' | 'back' {
  const asked = spec.resources?.requests?.['storage'];
  const current = status?.capacity?.['storage'] ?? asked;
  if (bytesOf(size) > bytesOf(current)) return 'grow';
  if (bytesOf(size) === bytesOf(current) && bytesOf(asked) > bytesOf(current)) return 'back';
  throw new UserError('DISK_NOT_LARGER', `the PVC ${metadata.name} has ${current} already`, {
    why: 'a disk can grow and not shrink: what is at its end would be lost',
    fix: `say more than ${current}`,
    exitCode: 2,
  });
}

function bytesOf(quantity: string | undefined): number {
  return parseQuantity(quantity ?? '0') ?? 0;
}
