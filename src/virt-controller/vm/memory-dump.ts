/**
 * A dump of the memory of a machine's guest to a PVC: what follows from the request and the volume of the instance. First match wins.
 *
 *   phase          what is seen                                        what follows
 *   any            it is to be removed                                 Dissociating
 *   Associating    no instance that runs                               Failed
 *   Associating    the volume is not in the template                   put it in
 *   Associating    the volume is not in the instance                   put it in
 *   Associating    its volume is being dumped to, or was               InProgress
 *   InProgress     no instance that runs, or one without the volume    Failed
 *   InProgress     the dump is made                                    Unmounting, with the name of the file
 *   InProgress     the dump failed                                     Failed, with the reason
 *   Unmounting     the instance has the volume                         take it out
 *   Unmounting     the instance has nothing of it                      Completed; the PVC is told the name of the file
 *   Failed         the instance has the volume                         take it out
 *   Dissociating   the instance, or the template, has the volume       take it out
 *   Dissociating   nobody has it                                       no request any more; the PVC keeps its file
 *
 * In the template the volume stays until it is removed; no instance is started with it. Pure.
 */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import type { VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance, type VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpEntryOf } from '../../api/kubevirt/memory-dump.ts';
import { ANNOTATION_MEMORY_DUMP } from '../../api/kubevirt/names.ts';
import { dumpVolumeFor, dumpVolumeOf, isDumpVolume } from '../../api/kubevirt/volumes/dump-volume.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import type { ObservedVm } from './observed.ts';

type Request = NonNullable<VmStatus['memoryDumpRequest']>;
type Entry = NonNullable<VmiStatus['volumeStatus']>[number];

const ENDED = 'the instance ended before its memory was dumped';

/** What the request is after what is seen; undefined when there is none any more. */
export function memoryDumpAfter(observed: ObservedVm): Request | undefined {
  const { vm, vmi, now } = observed;
  const request = vm.status?.memoryDumpRequest;
  if (!request) return undefined;
  if (request.remove && request.phase !== 'Dissociating') return { ...request, phase: 'Dissociating' };
  const entry = entryOf(vmi, request.claimName);
  const failed = (message: string): Request => ({ ...request, phase: 'Failed', message, endTimestamp: timestamp(now) });
  switch (request.phase) {
    case 'Associating':
      if (!isUp(vmi)) return failed(ENDED);
      return entry && isBegun(entry) ? { ...request, phase: 'InProgress', ...begun(entry) } : request;
    case 'InProgress':
      if (!isUp(vmi) || !hasVolume(vmi)) return failed(ENDED);
      if (entry?.phase === 'MemoryDumpFailed') return failed(entry.message ?? 'nobody said why');
      return entry?.phase === 'MemoryDumpCompleted' ? { ...request, phase: 'Unmounting', ...begun(entry), ...ended(entry) } : request;
    case 'Unmounting':
      return isOut(observed) ? { ...request, phase: 'Completed' } : request;
    case 'Dissociating':
      return isOut(observed) && !dumpVolumeOf(vm.spec.template.spec) ? undefined : request;
    case 'Completed':
    case 'Failed':
      return request;
  }
}

/** The write that puts the volume into the template, or takes it out. */
export function syncDumpTemplate(observed: ObservedVm): Action[] {
  const { vm, vmi } = observed;
  const { phase, claimName = '' } = memoryDumpAfter(observed) ?? {};
  const volumes = vm.spec.template.spec.volumes ?? [];
  const found = volumes.find(isDumpVolume);
  const isMissing = phase === 'Associating' && isUp(vmi) && found?.name !== claimName;
  if (!isMissing && !(phase === 'Dissociating' && found)) return [];
  const others = volumes.filter((each) => !isDumpVolume(each));
  const next = isMissing ? [...others, dumpVolumeFor(claimName)] : others;
  const because = isMissing ? 'its memory is to be dumped to a PVC' : 'it lets go of the PVC of a memory dump';
  const { resourceVersion } = vm.metadata;
  return [{ do: 'patch', target: refOf(vm), patch: { spec: { template: { spec: { volumes: next } } } }, resourceVersion, because }];
}

/** What is to be done for it besides, before the status is written. */
export function memoryDumpActions(observed: ObservedVm): Action[] {
  const [before, after] = [observed.vm.status?.memoryDumpRequest, memoryDumpAfter(observed)];
  if (!before) return [];
  const isNews = before.phase !== after?.phase;
  return [...syncInstance(observed, after), ...(isNews && after ? [...annotate(observed, after), ...told(after)] : [])];
}

function syncInstance({ vmi }: ObservedVm, request: Request | undefined): Action[] {
  if (!vmi || isFinal(vmi) || isDeleting(vmi)) return [];
  const volumes = vmi.spec.volumes ?? [];
  const [found, isWanted] = [volumes.find(isDumpVolume), request?.phase === 'Associating' || request?.phase === 'InProgress'];
  if (isWanted === (found !== undefined) || (isWanted && request?.phase !== 'Associating')) return [];
  const others = volumes.filter((each) => !isDumpVolume(each));
  const next = isWanted && request ? [...others, dumpVolumeFor(request.claimName)] : others;
  const because = isWanted ? 'its memory is to be dumped' : 'no memory is to be dumped any more';
  const { resourceVersion } = vmi.metadata;
  return [{ do: 'patch', target: refOf(vmi), patch: { spec: { volumes: next } }, resourceVersion, because }];
}

/** As published: whoever looks at the PVC finds the file. */
function annotate({ vm }: ObservedVm, { phase, claimName, fileName }: Request): Action[] {
  if (phase !== 'Completed' || fileName === undefined) return [];
  const target = {
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: PERSISTENT_VOLUME_CLAIMS.kind,
    namespace: vm.metadata.namespace,
    name: claimName,
  };
  const patch = { metadata: { annotations: { [ANNOTATION_MEMORY_DUMP]: fileName } } };
  return [{ do: 'patch', target, patch, because: 'a memory dump is on it' }];
}

function told({ phase, claimName, fileName, message }: Request): Action[] {
  const event: EventToRecord | undefined =
    phase === 'Completed'
      ? { type: 'Normal', reason: 'MemoryDumpCompleted', message: `The memory of the guest is dumped to ${fileName} on PVC ${claimName}.` }
      : phase === 'Failed'
        ? {
            type: 'Warning',
            reason: 'MemoryDumpFailed',
            message: `The memory of the guest was not dumped to PVC ${claimName}: ${message}.`,
          }
        : undefined;
  return event ? [{ do: 'record', because: event.message, event }] : [];
}

function isUp(vmi: VirtualMachineInstance | undefined): boolean {
  return vmi?.status?.phase === 'Running' && !isDeleting(vmi);
}

function hasVolume(vmi: VirtualMachineInstance | undefined): boolean {
  return vmi !== undefined && dumpVolumeOf(vmi.spec) !== undefined;
}

/** The instance has nothing of it any more, or there is none. */
function isOut({ vmi }: ObservedVm): boolean {
  return !vmi || isFinal(vmi) || (!hasVolume(vmi) && dumpEntryOf(vmi) === undefined);
}

function entryOf(vmi: VirtualMachineInstance | undefined, claimName: string): Entry | undefined {
  const entry = vmi && dumpEntryOf(vmi);
  return entry?.name === claimName ? entry : undefined;
}

function isBegun({ phase }: Entry): boolean {
  return phase === 'MemoryDumpInProgress' || phase === 'MemoryDumpCompleted' || phase === 'MemoryDumpFailed';
}

function begun({ memoryDumpVolume }: Entry): Pick<Request, 'startTimestamp' | 'fileName'> {
  const { startTimestamp, targetFileName } = memoryDumpVolume ?? {};
  return { ...(startTimestamp && { startTimestamp }), ...(targetFileName && { fileName: targetFileName }) };
}

function ended({ memoryDumpVolume }: Entry): Pick<Request, 'endTimestamp'> {
  return memoryDumpVolume?.endTimestamp ? { endTimestamp: memoryDumpVolume.endTimestamp } : {};
}
