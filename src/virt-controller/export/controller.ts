/** Lets disks be taken away: the loop of `observe` and `decide`. The bytes are served by the Pods that it makes. */
import { randomBytes } from 'node:crypto';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SERVICES } from '../../api/core/service.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { exportObjectName } from '../../api/exporter/exporter.ts';
import { type DataVolume, phaseOf } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type VirtualMachineExport, VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { controllerOf, isControlledBy, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { askExporter } from './ask-exporter.ts';
import { decideVmExport } from './decide.ts';
import type { ObservedVmExport } from './observed.ts';
import { claimNamesFor, exportSourceOf } from './source.ts';

export type VmExportOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  readonly exports: Cache<VirtualMachineExport>;
  /** Those that serve. */
  readonly exporters: Cache<Pod>;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** Launchers, and those that attach volumes. */
  readonly pods: Cache<Pod>;
  readonly attachments: Cache<Pod>;
  readonly snapshots: Cache<VirtualMachineSnapshot>;
  readonly contents: Cache<VirtualMachineSnapshotContent>;
  readonly dataVolumes: Cache<DataVolume>;
  /** Of the Pods that serve. */
  readonly image: string;
  /** Where those outside of the cluster get to the proxy, and who vouches for it; undefined when nowhere. */
  readonly findExternal: () => Promise<ObservedVmExport['external']>;
  readonly ask?: typeof askExporter;
};

/** Runs until the signal aborts. */
export function runVmExportController(options: VmExportOptions): Promise<void> {
  const { client, clock, log, metrics, signal, exports, exporters, vms, vmis, pods, attachments, snapshots, contents, dataVolumes } =
    options;
  const ofSource =
    (kind: string) =>
    ({ metadata: { namespace, name } }: KubeObject): string[] =>
      exports
        .list()
        .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.source.kind === kind && spec.source.name === name)
        .map(({ metadata }) => keyOf(metadata));
  return runController<ObservedVmExport>({
    name: 'export-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(exports, ({ metadata }) => [keyOf(metadata)]),
      changesOf(exporters, ownerKeysOf('VirtualMachineExport')),
      changesOf(vms, ofSource('VirtualMachine')),
      changesOf(vmis, ofSource('VirtualMachine')), // an instance has the name of its machine
      changesOf(snapshots, ofSource('VirtualMachineSnapshot')),
      changesOf(pods, (pod) => usersOf(pod)),
      changesOf(attachments, (pod) => usersOf(pod)),
      changesOf(contents, () => []),
      changesOf(dataVolumes, () => []),
    ],
    observe: (key) => observeVmExport(options, key),
    decide: decideVmExport,
    subject: (observed) => observed.export,
  });

  /** A PVC that a guest gets is not served any more. */
  function usersOf({ metadata, spec }: Pod): string[] {
    const used = new Set((spec.volumes ?? []).flatMap((each) => each.persistentVolumeClaim?.claimName ?? []));
    const isUsed = ({ metadata: { namespace }, spec: { source } }: VirtualMachineExport) =>
      namespace === metadata.namespace && source.kind === 'PersistentVolumeClaim' && used.has(source.name);
    return used.size === 0 ? [] : exports.list().filter(isUsed).map((each) => keyOf(each.metadata)); // biome-ignore format: one thought
  }
}

async function observeVmExport(options: VmExportOptions, key: string): Promise<ObservedVmExport | undefined> {
  const { client, clock, exports, exporters, snapshots, contents, vms, vmis, image, findExternal, ask = askExporter } = options;
  const exported = exports.get(key);
  if (!exported) return undefined;
  const { namespace, name } = exported.metadata;
  const { kind, name: sourceName } = exported.spec.source;
  const source = keyOf({ namespace, name: sourceName });
  const own = { ...(namespace !== undefined && { namespace }), name: exportObjectName(name) };
  const snapshot = kind === 'VirtualMachineSnapshot' ? snapshots.get(source) : undefined;
  const contentName = snapshot?.status?.virtualMachineSnapshotContentName;
  const parts = {
    export: exported,
    vm: kind === 'VirtualMachine' ? vms.get(source) : undefined,
    vmi: kind === 'VirtualMachine' ? vmis.get(source) : undefined,
    snapshot,
    content: contentName ? contents.get(keyOf({ namespace, name: contentName })) : undefined,
  };
  const names = claimNamesFor(parts);
  const claims = new Map(
    await Promise.all(names.map(async (each) => [each, await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: each })] as const)),
  );
  const pod = exporters.get(keyOf(own)) ?? (await client.get(PODS, own));
  const isOwn = pod !== undefined && isControlledBy(pod, exported);
  return {
    export: exported,
    source: exportSourceOf({ ...parts, claims, pods: await usersIn(options, namespace, isOwn), unfilled: unfilledOf(options, claims) }),
    pod,
    service: await client.get(SERVICES, own),
    state: isOwn && pod.status?.phase === 'Running' ? await ask(pod) : undefined,
    external: await findExternal(),
    image,
    ...(exported.status?.tokenSecretRef === undefined && { fresh: freshToken() }),
    now: clock.now(),
  };
}

function freshToken(): NonNullable<ObservedVmExport['fresh']> {
  return { token: randomBytes(24).toString('base64url'), suffix: randomBytes(4).toString('hex') };
}

/** Guests are heard of at once; other Pods are looked for before one that serves is made. */
async function usersIn({ client, pods, attachments }: VmExportOptions, namespace: string | undefined, isServed: boolean): Promise<Pod[]> {
  const known = [...pods.list(), ...attachments.list()].filter((pod) => pod.metadata.namespace === namespace);
  if (isServed || namespace === undefined) return known;
  const { items } = await client.list(PODS, { namespace });
  return [...known, ...items.filter((pod) => controllerOf(pod)?.kind !== VM_EXPORTS.kind)]; // several may read one PVC
}

function unfilledOf({ dataVolumes }: VmExportOptions, claims: ReadonlyMap<string, PersistentVolumeClaim | undefined>): Set<string> {
  const isUnfilled = (claim: PersistentVolumeClaim | undefined) => {
    const dataVolume = claim && dataVolumes.get(keyOf(claim.metadata));
    return dataVolume !== undefined && isControlledBy(claim as KubeObject, dataVolume) && phaseOf(dataVolume) !== 'Succeeded';
  };
  return new Set([...claims].flatMap(([name, claim]) => (isUnfilled(claim) ? [name] : [])));
}
