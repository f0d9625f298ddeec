/** The kubelet's question before it starts virt-launcher, which believes what its Pod says: has virt-controller made this Pod for an instance? */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { backingUpTo } from '../../api/kubevirt/backup.ts';
import { isMigrationFinal, MIGRATIONS } from '../../api/kubevirt/kinds/migration.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpingTo } from '../../api/kubevirt/memory-dump.ts';
import { ANNOTATION_MIGRATION_JOB } from '../../api/kubevirt/names.ts';
import { isHotpluggable } from '../../api/kubevirt/volumes/source-of.ts';
import { isAttachmentOf } from '../../api/launcher/attachment.ts';
import { isBackupPodOf } from '../../api/launcher/backup.ts';
import { isDumpPodOf } from '../../api/launcher/memory-dump.ts';
import { isLauncherOf, isTargetOf } from '../../api/launcher/pod-name.ts';
import { isSavePodOf } from '../../api/launcher/suspension.ts';
import { controllerOf } from '../../api/meta.ts';
import type { Client } from '../../client/client.ts';

/** Why the Pod is not the launcher of an instance that is there; undefined when it is. Names and owners alone are claims of whoever wrote them. */
export async function whyNotLauncher(client: Client, pod: Pod): Promise<string | undefined> {
  if ((await instanceOf(client, pod)) !== undefined) return undefined;
  return 'the image of virt-launcher is only for Pods that virt-controller has made for a VirtualMachineInstance';
}

/** The instance that this Pod is a launcher of, or attaches a volume to. */
async function instanceOf(client: Client, pod: Pod): Promise<VirtualMachineInstance | undefined> {
  const owner = controllerOf(pod);
  if (owner?.kind === 'Pod') return attachedBy(client, pod, owner.name);
  const vmi = owner && (await client.get(VMIS, { namespace: pod.metadata.namespace, name: owner.name }));
  return vmi && (isLauncherOf(pod, vmi) || (await isTarget(client, pod, vmi))) ? vmi : undefined;
}

/** One that the launcher owns, for a volume that the instance has or is about to lose. */
async function attachedBy(client: Client, pod: Pod, launcherName: string): Promise<VirtualMachineInstance | undefined> {
  const launcher = await client.get(PODS, { namespace: pod.metadata.namespace, name: launcherName });
  const vmi = launcher && controllerOf(launcher)?.kind === 'VirtualMachineInstance' ? await instanceOf(client, launcher) : undefined;
  if (!launcher || !vmi) return undefined;
  const volumes = [...(vmi.spec.volumes ?? []).filter(isHotpluggable), ...(vmi.status?.volumeStatus ?? [])].map(({ name }) => name);
  const isSaving = vmi.status?.suspension !== undefined && isSavePodOf(pod, { vmi, launcher });
  const isDumping = dumpingTo(vmi) !== undefined && isDumpPodOf(pod, { vmi, launcher });
  const isBackingUp = backingUpTo(vmi) !== undefined && isBackupPodOf(pod, { vmi, launcher });
  return isSaving || isDumping || isBackingUp || isAttachmentOf(pod, { vmi, launcher, volumes }) ? vmi : undefined;
}

/** The instance is told of a Pod that it goes to when that runs; until then its migration vouches for it. */
async function isTarget(client: Client, pod: Pod, vmi: VirtualMachineInstance): Promise<boolean> {
  const name = pod.metadata.annotations?.[ANNOTATION_MIGRATION_JOB];
  const migration = name && (await client.get(MIGRATIONS, { namespace: pod.metadata.namespace, name }));
  if (!migration || isMigrationFinal(migration) || migration.spec.vmiName !== vmi.metadata.name) return false;
  return isTargetOf(pod, vmi, migration.metadata.uid ?? '');
}

/** The machine that a launcher runs, by a name that outlives the Pod; undefined for every other Pod, whatever it says of itself. */
export async function machineOf(client: Client, pod: Pod): Promise<string | undefined> {
  const vmi = await instanceOf(client, pod);
  return vmi && `VirtualMachineInstance ${pod.metadata.namespace}/${vmi.metadata.name}`;
}
