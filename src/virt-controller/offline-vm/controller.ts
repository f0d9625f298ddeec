/** Keeps every OfflineVirtualMachine and the VirtualMachine of its name in step: the loop of `observe`, `decide` and apply. */
import { keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { rememberAbsences } from '../absences.ts';
import { decideOfflineVm } from './decide.ts';
import { type OfflineVmObserver, observeOfflineVm } from './observe.ts';
import type { ObservedOfflineVm } from './observed.ts';

/** Runs until the signal aborts. */
export function runOfflineVmController(
  options: Omit<OfflineVmObserver, 'absences'> & Pick<ControllerOptions<ObservedOfflineVm>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, offlineVms, vms } = options;
  const observer = { ...options, absences: rememberAbsences() };
  return runController<ObservedOfflineVm>({
    name: 'offlinevirtualmachine-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(offlineVms, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vms, ({ metadata }) => [keyOf(metadata)]), // a machine has the name of its OVM
    ],
    observe: (key) => observeOfflineVm(observer, key),
    decide: decideOfflineVm,
    subject: ({ ovm }) => ovm,
  });
}
