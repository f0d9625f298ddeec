/** Gathers what `decideVm` looks at: the VM, the instance of its name, and whose that instance is. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { Node } from '../../api/core/node.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { isCopy } from '../../api/kubevirt/instancetype/chosen.ts';
import { DATA_VOLUMES, type DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import { runStrategyOf, type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isControlledBy, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { At, Client } from '../../client/client.ts';
import { findChosen } from '../../client/find-chosen.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER, mayAdopt } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import { heartbeatAtOf } from '../node-heartbeat.ts';
import { claimNamesOf } from '../vmi/claims.ts';
import { dataVolumeNamesOf } from './data-volumes.ts';
import type { ObservedVm } from './observed.ts';
import { isKeptInstance, memoryClaimNameOf } from './suspension.ts';

export type VmObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** By the uid of the VM, under BY_CONTROLLER. */
  readonly revisions: Cache<ControllerRevision>;
  readonly nodes: Cache<Node>;
  readonly dataVolumes: Cache<DataVolume>;
  /** Of instance types and preferences; all four kinds. */
  readonly choices: readonly Cache<KubeObject>[];
  readonly configuration: FollowedConfiguration;
  readonly createErrors: WriteErrors;
  readonly deleteErrors: WriteErrors;
};

/** What is known of the VM with this key; undefined when it is gone. */
export async function observeVm(observer: VmObserver, key: string): Promise<ObservedVm | undefined> {
  const { client, clock, vms, vmis, revisions, nodes, createErrors, deleteErrors } = observer;
  const vm = vms.get(key);
  if (!vm) {
    createErrors.forget(key);
    deleteErrors.forget(key);
    return undefined;
  }
  await observer.configuration.known;
  const vmi = vmis.get(key);
  const kept = revisions.byIndex(BY_CONTROLLER, vm.metadata.uid ?? '');
  const seen = {
    vm,
    now: clock.now(),
    createError: createErrors.get(key),
    deleteError: deleteErrors.get(key),
    revisions: kept.filter((each) => !isCopy(each) && !isKeptInstance(each)),
    kept: kept.find(isKeptInstance),
    memoryClaim: await memoryClaimOf(client, vm),
    copies: kept.filter(isCopy),
    chosen: await findChosen(readerOf(observer), vm),
    referencePolicy: observer.configuration.current.referencePolicy,
    dataVolumes: await dataVolumesOf(observer, vm),
  };
  if (!vmi) return { ...seen, unboundClaim: await unboundClaimOf(client, vm) };
  if (isControlledBy(vmi, vm)) {
    const unboundClaim = isFinal(vmi) || vmi.status?.phase === 'Running' ? undefined : await unboundClaimOf(client, vm);
    return { ...seen, vmi, heartbeatAt: heartbeatAtOf(nodes, vmi.status?.nodeName), unboundClaim };
  }
  return { ...seen, stranger: vmi, mayAdopt: await mayAdopt({ client, resource: VMS, owner: vm, object: vmi }) };
}

/** What a cache does not have is asked of the server: somebody may make a type and a machine of it in one breath. */
function readerOf({ client, choices, revisions }: VmObserver): Pick<Client, 'get'> {
  const caches: readonly Cache<KubeObject>[] = [...choices, revisions];
  return {
    get: async <T extends KubeObject>(resource: Resource<T>, at: At) =>
      (caches.find((cache) => cache.resource.kind === resource.kind)?.get(keyOf(at)) as T | undefined) ?? client.get(resource, at), // of that kind
  };
}

/** What the cache does not have is asked of the server: what is missing is made, and one that is being filled is waited for. */
async function dataVolumesOf({ client, dataVolumes }: VmObserver, vm: VirtualMachine): Promise<ReadonlyMap<string, DataVolume>> {
  const { namespace } = vm.metadata;
  const found = dataVolumeNamesOf(vm).map(
    async (name) => dataVolumes.get(keyOf({ namespace, name })) ?? (await client.get(DATA_VOLUMES, { namespace, name })),
  );
  return new Map((await Promise.all(found)).flatMap((each) => (each ? [[each.metadata.name, each] as const] : [])));
}

/** One of that name that somebody else has made is not ours to use, and the name is one that nobody hits by chance. */
async function memoryClaimOf(client: Client, vm: VirtualMachine): Promise<PersistentVolumeClaim | undefined> {
  if (!vm.status?.suspension) return undefined;
  const found = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: vm.metadata.namespace, name: memoryClaimNameOf(vm) });
  return found && isControlledBy(found, vm) ? found : undefined;
}

/** Asked of the server, and only on the way up: a copy of every claim of the cluster would cost more. A missing claim is the instance's to tell. */
async function unboundClaimOf(client: Client, vm: VirtualMachine): Promise<string | undefined> {
  if (runStrategyOf(vm) === 'Halted') return undefined;
  const { namespace } = vm.metadata;
  const names = claimNamesOf(vm.spec.template.spec);
  const claims = await Promise.all(names.map((name) => client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name })));
  return claims.find((claim) => claim && claim.status?.phase !== 'Bound')?.metadata.name;
}
