/** Gathers what `decideVmi` looks at: the instance, its Pods, and whether the VM it came from is still there. */
import type { Node } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { type HotplugDisk, hotplugDisksOf, startedSpec } from '../../api/kubevirt/hotplug.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpEntryOf } from '../../api/kubevirt/memory-dump.ts';
import { FINALIZER_VM_CONTROLLER, FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import { dumpClaimNameOf } from '../../api/kubevirt/volumes/dump-volume.ts';
import { isAttachmentOf } from '../../api/launcher/attachment.ts';
import { isDumpPodOf } from '../../api/launcher/memory-dump.ts';
import { currentLauncherNameOf, isLauncherOf } from '../../api/launcher/pod-name.ts';
import { isSavePodOf } from '../../api/launcher/suspension.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { controllerOf, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import { heartbeatAtOf, isStale } from '../node-heartbeat.ts';
import { type Claims, claimNamesOf } from './claims.ts';
import { claimsOf, unfilledClaimsOf } from './claims-of.ts';
import { offersKvm } from './launcher-resources.ts';
import type { ContainerDiskWay } from './launcher-volumes.ts';
import type { ObservedVmi } from './observed.ts';

export type VmiObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly pods: Cache<Pod>;
  /** The Pods that attach volumes, by the launcher Pod that owns them. */
  readonly attachments: Cache<Pod>;
  /** The sizes of all claims; nothing else of them. */
  readonly claimSizes: Cache<PersistentVolumeClaim>;
  readonly nodes: Cache<Node>;
  readonly createErrors: WriteErrors;
  readonly launcherImage: string;
  readonly containerDisks?: ContainerDiskWay | undefined;
  readonly configuration: FollowedConfiguration;
};

/** What is known of the instance with this key; undefined when it is gone. */
export async function observeVmi(observer: VmiObserver, key: string): Promise<ObservedVmi | undefined> {
  const { clock, vms, vmis, nodes, createErrors, launcherImage, containerDisks } = observer;
  await observer.configuration.known;
  const now = clock.now();
  const vmi = vmis.get(key);
  if (!vmi) {
    createErrors.forget(key);
    return undefined;
  }
  const pods = await podsOf(observer, vmi);
  const { phase } = vmi.status ?? {};
  const needsClaims =
    phase === 'Scheduling' || (phase === 'Pending' && pods.length === 0) || (phase === 'Running' && pods.some(fillsDisks));
  const started = { ...vmi, spec: startedSpec(vmi.spec) };
  const claims = needsClaims ? await claimsOf(observer.client, started) : undefined;
  const unfilledClaims = phase === 'Pending' && pods.length === 0 ? await unfilledClaimsOf(observer.client, claims) : undefined;
  const plugs = await observeHotplug(observer, vmi, pods);
  const beside = [...(plugs.attachments ?? []), ...writersOf(observer, vmi, pods)];
  const dumpClaim = await dumpClaimOf(observer, vmi);
  const isNodeLost = isStale(heartbeatAtOf(nodes, vmi.status?.nodeName), now);
  const createError = createErrors.get(key);
  const hasKvm = phase === 'Pending' && pods.length === 0 && nodes.list().some(offersKvm);
  const configuration = observer.configuration.current;
  const launcher = { launcherImage, containerDisks, hasKvm, configuration };
  const claimSizes = phase === 'Scheduled' || phase === 'Running' ? sizesOf(observer, vmi) : undefined;
  return {
    vmi,
    pods,
    isVmGone: isVmGone(vms, vmi),
    isNodeLost,
    createError,
    ...launcher,
    claims,
    unfilledClaims,
    ...plugs,
    claimSizes,
    dumpClaim,
    ...(beside.length > 0 && { attachments: beside }),
    now,
  };
}

/** From the copy: what is behind is told when it comes. */
function sizesOf({ claimSizes }: VmiObserver, { metadata: { namespace }, spec }: VirtualMachineInstance): Claims {
  return new Map(claimNamesOf(spec).map((name) => [name, claimSizes.get(keyOf({ namespace, name }))]));
}

/** Asked of the server only on the way into the guest. */
async function observeHotplug(
  { client, attachments }: VmiObserver,
  vmi: VirtualMachineInstance,
  pods: readonly Pod[],
): Promise<Pick<ObservedVmi, 'attachments' | 'hotplugClaims' | 'unfilledHotplugClaims'>> {
  const wanted = hotplugDisksOf(vmi.spec);
  const volumes = new Set([...wanted.map(({ volume }) => volume.name), ...hotplugEntriesOf(vmi).map(({ name }) => name)]);
  if (volumes.size === 0 || isFinal(vmi)) return {};
  const found = pods.flatMap((launcher) =>
    attachments
      .byIndex(BY_CONTROLLER, launcher.metadata.uid ?? '')
      .filter((pod) => isAttachmentOf(pod, { vmi, launcher, volumes: [...volumes] })),
  );
  const isIn = ({ volume }: HotplugDisk) => {
    const entry = hotplugEntriesOf(vmi).find(({ name }) => name === volume.name);
    const isServed = found.some(({ metadata }) => metadata.uid !== undefined && metadata.uid === entry?.hotplugVolume?.attachPodUID);
    return isServed && (entry?.phase === 'MountedToPod' || entry?.phase === 'Ready');
  };
  const coming = wanted.filter((each) => !isIn(each)).map(({ volume }) => volume);
  const hotplugClaims = await claimsOf(client, { ...vmi, spec: { ...vmi.spec, volumes: coming } });
  return { attachments: found, hotplugClaims, unfilledHotplugClaims: await unfilledClaimsOf(client, hotplugClaims) };
}

/** The Pods that save or dump the memory of its guest. */
function writersOf({ attachments }: VmiObserver, vmi: VirtualMachineInstance, pods: readonly Pod[]): readonly Pod[] {
  return pods.flatMap((launcher) =>
    attachments
      .byIndex(BY_CONTROLLER, launcher.metadata.uid ?? '')
      .filter((pod) => isSavePodOf(pod, { vmi, launcher }) || isDumpPodOf(pod, { vmi, launcher })),
  );
}

/** Asked of the server only until the dump can begin. */
async function dumpClaimOf({ client }: VmiObserver, vmi: VirtualMachineInstance): Promise<PersistentVolumeClaim | undefined> {
  const name = dumpClaimNameOf(vmi.spec);
  const { phase } = dumpEntryOf(vmi) ?? {};
  const isComing = phase === undefined || phase === 'Pending' || phase === 'Bound';
  return name !== undefined && isComing ? client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: vmi.metadata.namespace, name }) : undefined;
}

function hotplugEntriesOf({ status }: VirtualMachineInstance) {
  return (status?.volumeStatus ?? []).filter(({ hotplugVolume, memoryDumpVolume }) => hotplugVolume && !memoryDumpVolume);
}

/** It was made while a disk had no content yet, which is there as soon as its guest runs. */
function fillsDisks({ spec: { containers } }: Pod): boolean {
  return containers.some(({ env = [] }) => env.some(({ name }) => name === LAUNCHER_VARIABLES.diskImages));
}

/**
 * "There is no Pod" decides on a second instance, so it is never taken from the cache alone: that one may be behind, and it sees
 * only Pods whose label nobody has taken off.
 */
async function podsOf({ client, pods }: VmiObserver, vmi: VirtualMachineInstance): Promise<readonly Pod[]> {
  const known = pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').filter((pod) => isLauncherOf(pod, vmi));
  const isSettled = isFinal(vmi) && !vmi.metadata.finalizers?.includes(FINALIZER_VMI);
  if (known.length > 0 || isSettled) return known;
  const pod = await client.get(PODS, { namespace: vmi.metadata.namespace, name: currentLauncherNameOf(vmi) });
  return pod && isLauncherOf(pod, vmi) ? [pod] : [];
}

function isVmGone(vms: Cache<VirtualMachine>, vmi: VirtualMachineInstance): boolean {
  if (!vmi.metadata.finalizers?.includes(FINALIZER_VM_CONTROLLER)) return false;
  const owner = controllerOf(vmi);
  return owner?.kind !== 'VirtualMachine' || vms.get(keyOf(vmi.metadata))?.metadata.uid !== owner.uid;
}
