/**
 * What should happen to one VirtualMachineBackup. First match wins. What virt-handler is to do is asked for in the status of the instance (the request).
 *
 *   when                                                    then
 *   deleting, its request has begun and is not over         say that nobody wants it, and wait
 *   deleting                                                take request and Pod away, go
 *   without our finalizer                                   add it
 *   over, well or not                                       take request and Pod away
 *   its request is completed                                tell the tracker, then here: Done
 *   its request has failed                                  Failed, with the reason
 *   its request was there, and is not                       Failed: the instance has ended
 *   its request is there, the instance has ended            the same
 *   its request is there, no Pod                            make it, on the node of the guest
 *   its request is there, the Pod has ended or is too late  the request has failed
 *   its request is there, the Pod runs                      tell the instance; virt-handler begins
 *   no tracker, machine or instance that runs; the guest    say so, and wait
 *   is moved, suspended or dumped, or has another backup
 *   the PVC is not there, or the Pod of the last one is     say so, and wait
 *   the PVC cannot take it                                  Failed
 *   anything else                                           ask the instance for it, on condition that nobody else did
 *
 * A tracker hears of a checkpoint when the files are whole, and never of another one: whoever is killed when, what it names is on a PVC. Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { type BackupRequest, backupFolderOf, backupRequestOf, checkpointNameOf, isRequestOver } from '../../api/kubevirt/backup.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isBackupOver } from '../../api/kubevirt/kinds/vm-backup.ts';
import { VM_BACKUP_TRACKERS } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import { FINALIZER_VM_BACKUP } from '../../api/kubevirt/names.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { BACKUP_COMMAND, BACKUP_CONTAINER, backupPodNameOf } from '../../api/launcher/backup.ts';
import { BACKUP_VOLUME } from '../../api/launcher/mounts.ts';
import { conditionOf, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { deepEqual, diffAsMergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action, Decision, EventToRecord } from '../../reconcile/decision.ts';
import { isWriting, whyWriterEnded, whyWriterNotReady, writerDeadlineOf, writerPodFor } from '../vmi/writer-pod.ts';
import type { ObservedVmBackup } from './observed.ts';
import { backupStatus, type Outcome, whatIsThere } from './status.ts';

/** How often to look for what is not watched: a PVC. */
const WAIT_MS = 1_000;
const ENDED = 'the instance ended before its disks were backed up';

/** The rules above, for one backup. */
export function decideVmBackup(observed: ObservedVmBackup): Decision {
  const { backup } = observed;
  const { finalizers = [] } = backup.metadata;
  const request = ownRequest(observed);
  if (isDeleting(backup)) return letGo(observed, request);
  if (!finalizers.includes(FINALIZER_VM_BACKUP))
    return {
      actions: [patchOf(backup, { metadata: { finalizers: [...finalizers, FINALIZER_VM_BACKUP] } }, 'its instance forgets it first')],
    };
  if (isBackupOver(backup)) return { actions: request ? forget(observed) : [] };
  if (request) return { ...carryOn(observed, request) };
  const wasAsked = conditionOf(backup.status?.conditions, 'Progressing')?.status === 'True';
  return wasAsked ? fail(observed, ENDED) : ask(observed);
}

/** What the instance was asked for, when it was for this backup. */
function ownRequest({ backup, vmi }: ObservedVmBackup): BackupRequest | undefined {
  const request = vmi && backupRequestOf(vmi);
  return request?.backupUID === backup.metadata.uid ? request : undefined;
}

function letGo(observed: ObservedVmBackup, request: BackupRequest | undefined): Decision {
  const { backup, vmi } = observed;
  const { finalizers = [] } = backup.metadata;
  if (!finalizers.includes(FINALIZER_VM_BACKUP)) return { actions: [] };
  if (request && vmi && !isFinal(vmi) && request.startTimestamp !== undefined && !isRequestOver(request))
    return { actions: request.abort ? [] : [patchRequest(vmi, { abort: true }, 'its backup is deleted')] };
  if (request) return { actions: forget(observed) };
  const others = finalizers.filter((each) => each !== FINALIZER_VM_BACKUP);
  return { actions: [patchOf(backup, { metadata: { finalizers: others } }, 'nothing is left of it')] };
}

/** The Pod first: with the request nobody would know of it. */
function forget({ vmi, pod }: ObservedVmBackup): Action[] {
  if (!vmi) return [];
  return [...removeUnused(pod), patchOf(vmi, { status: { changedBlockTracking: { backupStatus: null } } }, 'its backup is over')];
}

function removeUnused(pod: Pod | undefined): Action[] {
  if (!pod || isDeleting(pod)) return [];
  return [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 1, because: 'no disks are being backed up' }];
}

function carryOn(observed: ObservedVmBackup, request: BackupRequest): Decision {
  const { vmi, pod, launcher, now } = observed;
  if (request.completed) return finish(observed, request);
  if (request.failed) return fail(observed, request.backupMsg ?? 'nobody said why');
  if (!vmi || isFinal(vmi)) return fail(observed, ENDED);
  const begun = tell(observed, { is: 'begun' });
  const failed = (backupMsg: string): Decision => ({ actions: [...begun, patchRequest(vmi, { failed: true, backupMsg }, backupMsg)] });
  if (request.podUID !== undefined) return { actions: begun };
  if (pod && isPodFinal(pod)) return failed(whyWriterEnded(pod, BACKUP_CONTAINER));
  if (pod && isWriting(pod, BACKUP_CONTAINER))
    return { actions: [...begun, patchRequest(vmi, { podUID: pod.metadata.uid ?? '' }, 'the Pod that writes its backup is there')] };
  if (!pod) return launcher && !isDeleting(launcher) ? { actions: [...begun, create(observed, vmi, launcher)] } : { actions: begun };
  const waitMs = writerDeadlineOf(pod, now) - now;
  return waitMs > 0 ? { actions: begun, lookAgainAfterMs: waitMs } : failed(whyWriterNotReady(pod, BACKUP_CONTAINER));
}

function create(observed: ObservedVmBackup, vmi: VirtualMachineInstance, launcher: Pod): Action {
  const { backup, launcherImage, containerDisks, configuration } = observed;
  const object = writerPodFor(vmi, {
    launcher,
    options: { image: launcherImage, containerDisks, ...(configuration && { configuration }) },
    ...{ name: backupPodNameOf(vmi), generateName: 'backup-', container: BACKUP_CONTAINER, command: BACKUP_COMMAND },
    ...{ claimName: backup.spec.pvcName ?? '', mount: BACKUP_VOLUME },
  });
  return { do: 'create', object, because: 'the disks of the guest are to be backed up' };
}

function finish(observed: ObservedVmBackup, request: BackupRequest): Decision {
  const { tracker, now } = observed;
  const { checkpointName: name, endTimestamp, volumes } = request;
  const creationTime = endTimestamp ?? timestamp(now);
  const latestCheckpoint = { name, creationTime, ...(volumes && { volumes }) };
  const isNews = tracker && name !== undefined && !deepEqual(tracker.status?.latestCheckpoint, latestCheckpoint);
  const told: Action[] = isNews
    ? [{ ...patchOf(tracker, { status: { latestCheckpoint } }, 'a backup with this checkpoint is whole'), subresource: 'status' }]
    : [];
  const event = { type: 'Normal', reason: 'VirtualMachineBackupCompletedSuccessfully', message: whatIsThere(request) } as const;
  return { actions: [...told, ...tell(observed, { is: 'done', request }, event)] };
}

function fail(observed: ObservedVmBackup, message: string): Decision {
  return { actions: tell(observed, { is: 'failed', message }, { type: 'Warning', reason: 'VirtualMachineBackupFailed', message }) };
}

function ask(observed: ObservedVmBackup): Decision {
  const { backup, tracker, trackers, vm, vmi, claim, pod } = observed;
  const why = whyWait(observed);
  if (why !== undefined || !vm || !vmi) return wait(observed, why ?? 'the machine does not run');
  const { pvcName: claimName = '', skipQuiesce, forceFullBackup } = backup.spec;
  if (!claim || isDeleting(claim)) return wait(observed, `PVC ${claimName} does not exist`);
  const unfit = whyUnfit(claim, vmi);
  if (unfit !== undefined) return fail(observed, unfit);
  const waiting = pod && wait(observed, 'the Pod of the backup before is still there');
  if (waiting) return { ...waiting, actions: [...removeUnused(pod), ...waiting.actions] };
  const base = forceFullBackup ? undefined : tracker?.status?.latestCheckpoint?.name;
  const kept = trackers.flatMap(({ status }) => status?.latestCheckpoint?.name ?? []);
  const request: BackupRequest = {
    backupName: backup.metadata.name,
    ...{ backupUID: backup.metadata.uid ?? '', claimName, folder: backupFolderOf(vm.metadata.name, backup) },
    ...(tracker && { checkpointName: checkpointNameOf(backup) }),
    ...(base !== undefined && { baseCheckpoint: base }),
    ...(kept.length > 0 && { keptCheckpoints: kept }),
    ...(skipQuiesce && { skipQuiesce }),
  };
  const { state = 'Disabled', backupStatus: left = {} } = vmi.status?.changedBlockTracking ?? {};
  return {
    actions: [
      patchOf(
        vmi,
        { status: { changedBlockTracking: { state, backupStatus: diffAsMergePatch(left, request) } } },
        'its disks are to be backed up',
      ),
    ],
  };
}

/** What it waits for, in the order in which it is looked at. */
function whyWait({ backup, tracker, vm, vmi, isForgotten = false }: ObservedVmBackup): string | undefined {
  const { kind, name } = backup.spec.source;
  if (kind === VM_BACKUP_TRACKERS.kind && !tracker) return `there is no tracker ${name}`;
  if (!vm || isDeleting(vm)) return `there is no machine ${tracker?.spec.source.name ?? name}`;
  if (vmi?.status?.phase !== 'Running' || isDeleting(vmi)) return `machine ${vm.metadata.name} does not run`;
  const other = backupRequestOf(vmi);
  const isLeft = other !== undefined && isForgotten && (isRequestOver(other) || other.startTimestamp === undefined);
  if (other && !isLeft) return `backup ${other.backupName} of the machine is being made`;
  return whyBusy(vm, vmi);
}

function whyBusy({ status }: VirtualMachine, vmi: VirtualMachineInstance): string | undefined {
  if (status?.snapshotInProgress) return `snapshot ${status.snapshotInProgress} of the machine is being taken`;
  return hindranceOf('backup', vmi)?.why;
}

function whyUnfit({ metadata: { name }, spec }: PersistentVolumeClaim, vmi: VirtualMachineInstance): string | undefined {
  if (spec.volumeMode === 'Block') return `PVC ${name} is a block device: a backup needs one with a file system (volumeMode Filesystem)`;
  const modes = spec.accessModes ?? [];
  if (modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')) return `PVC ${name} is read-only (ReadOnlyMany)`;
  const volume = vmi.spec.volumes?.find((each) => claimOf(each)?.claimName === name);
  return volume && `volume ${volume.name} of the machine is on PVC ${name}: use another PVC`;
}

function wait(observed: ObservedVmBackup, message: string): Decision {
  return { actions: tell(observed, { is: 'waiting', message }), lookAgainAfterMs: WAIT_MS };
}

function tell(observed: ObservedVmBackup, outcome: Outcome, event?: EventToRecord): Action[] {
  const { backup } = observed;
  const status = diffAsMergePatch(backup.status ?? {}, backupStatus(observed, outcome));
  if (status === undefined) return [];
  return [{ ...patchOf(backup, { status }, becauseOf(outcome)), subresource: 'status', ...(event && { event }) }];
}

function becauseOf(outcome: Outcome): string {
  return outcome.is === 'waiting' || outcome.is === 'failed'
    ? outcome.message
    : outcome.is === 'done'
      ? 'all of it is on the PVC'
      : 'the instance is asked for it';
}

function patchRequest(vmi: VirtualMachineInstance, backupStatus: Partial<BackupRequest>, because: string) {
  return patchOf(vmi, { status: { changedBlockTracking: { backupStatus } } }, because);
}

/** On condition that nobody else wrote in between. */
function patchOf(object: KubeObject, patch: object, because: string) {
  const { resourceVersion } = object.metadata;
  return { do: 'patch', target: refOf(object), patch, because, ...(resourceVersion !== undefined && { resourceVersion }) } as const;
}
