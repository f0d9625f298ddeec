/**
 * What should happen to one VirtualMachineExport. First match wins.
 *
 *   when                                              then
 *   deleting                                          nothing: what was made for it goes with it
 *   its time is over                                  delete it
 *   no token is named                                 name that of its spec; without one, make a Secret first
 *   its source is not ready, or in use                delete its Pod; Pending, with the reason
 *   there is nothing to export                        Skipped
 *   a Pod or Service of its name is not of it         Pending, with the reason
 *   a PVC of a snapshot, its Service or Pod is missing   make it; Pending
 *   its Pod has ended                                 delete it, and make another
 *   its Pod does not serve                            Pending, with what it says
 *   otherwise                                         Ready, with links
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { Pod } from '../../api/core/pod.ts';
import { expiryOf } from '../../api/kubevirt/kinds/vm-export.ts';
import { isControlledBy, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { exporterPodFor, exportServiceFor, tokenSecretFor } from './export-pod.ts';
import type { ObservedVmExport, Waiting } from './observed.ts';
import { deriveVmExportStatus, type Said } from './status.ts';

const LOOK_MS = 1_000;
const WAIT_MS = 5_000;

/** The rules above, for one export. */
export function decideVmExport(observed: ObservedVmExport): Decision {
  const { export: exported, now } = observed;
  if (isDeleting(exported)) return nothingToDo;
  const leftMs = expiryOf(exported) - now;
  if (leftMs <= 0) return { actions: [{ do: 'delete', target: refOf(exported), because: 'its time is over' }] };
  const decision = exported.status?.tokenSecretRef === undefined ? nameToken(observed) : serve(observed);
  return { ...decision, lookAgainAfterMs: Math.min(leftMs, decision.lookAgainAfterMs ?? leftMs) };
}

function nameToken(observed: ObservedVmExport): Decision {
  const { export: exported, fresh } = observed;
  const { tokenSecretRef } = exported.spec;
  const pending = { phase: 'Pending', reason: 'Initializing', message: 'it begins' } as const;
  if (tokenSecretRef) return { actions: tell(observed, pending, tokenSecretRef) };
  if (!fresh) return nothingToDo;
  const secret = tokenSecretFor(exported, fresh);
  const create: Action = { do: 'create', object: secret, because: 'nobody has named a token' };
  return { actions: [create, ...tell(observed, pending, secret.metadata.name)] };
}

function serve(observed: ObservedVmExport): Decision {
  const { export: exported, source, pod, service } = observed;
  const own = pod && isControlledBy(pod, exported) ? pod : undefined;
  if (source.waiting)
    return { actions: [...remove(own, source.waiting.message), ...pend(observed, source.waiting)], lookAgainAfterMs: WAIT_MS };
  if (source.volumes.length === 0)
    return { actions: tell(observed, { phase: 'Skipped', reason: 'VMNoVolumes', message: 'it has no disks on PVCs' }) };
  const foreign = [pod, service].find((each) => each && !isControlledBy(each, exported));
  if (foreign) {
    const message = `${foreign.kind} ${foreign.metadata.name} is there, and is not of this export`;
    return { actions: pend(observed, { reason: 'NameTaken', message }), lookAgainAfterMs: WAIT_MS };
  }
  const missing = missingOf(observed);
  if (missing.length > 0) {
    const create = missing.map((object): Action => ({ do: 'create', object, because: 'its disks are to be served' }));
    return {
      actions: [...create, ...pend(observed, { reason: 'PodPending', message: 'its Pod does not run yet' })],
      lookAgainAfterMs: LOOK_MS,
    };
  }
  return follow(observed, own);
}

function missingOf(observed: ObservedVmExport): KubeObject[] {
  const { export: exported, source, pod, service } = observed;
  const claims = source.volumes.flatMap(({ claim, made }) => (!claim && made ? [made] : []));
  const tokenSecret = exported.status?.tokenSecretRef ?? '';
  return [...claims, ...(service ? [] : [exportServiceFor(exported)]), ...(pod ? [] : [exporterPodFor(observed, tokenSecret)])];
}

function follow(observed: ObservedVmExport, pod: Pod | undefined): Decision {
  const { state } = observed;
  const phase = pod?.status?.phase;
  if (phase === 'Failed' || phase === 'Succeeded') return { actions: remove(pod, 'it ended'), lookAgainAfterMs: LOOK_MS };
  if (phase === 'Running' && state?.cert !== undefined)
    return {
      actions: tell(observed, { phase: 'Ready', reason: 'PodReady', message: 'the disks can be taken' }),
      lookAgainAfterMs: WAIT_MS,
    };
  const message = state?.failure ?? 'its Pod does not serve yet';
  return { actions: pend(observed, { reason: 'PodPending', message }), lookAgainAfterMs: LOOK_MS };
}

function pend(observed: ObservedVmExport, waiting: Waiting): Action[] {
  return tell(observed, { phase: 'Pending', ...waiting });
}

function remove(pod: Pod | undefined, because: string): Action[] {
  return pod && !isDeleting(pod) ? [{ do: 'delete', target: refOf(pod), because }] : [];
}

function tell(observed: ObservedVmExport, said: Said, tokenSecretRef?: string): Action[] {
  const { export: exported } = observed;
  const status = { ...deriveVmExportStatus(observed, said), ...(tokenSecretRef !== undefined && { tokenSecretRef }) };
  const patch = diffAsMergePatch(exported.status ?? {}, status);
  if (patch === undefined) return [];
  const { resourceVersion } = exported.metadata;
  return [
    { do: 'patch', target: refOf(exported), patch: { status: patch }, subresource: 'status', resourceVersion, because: said.message },
  ];
}
