/** Keeps every VirtualMachine and its instance in step: the loop of `observe`, `decide` and reconcile's apply. */
import { keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { keysOnSilentNode } from '../node-heartbeat.ts';
import { ownerKeysOf } from '../owner.ts';
import { decideVm } from './decide.ts';
import { observeVm, type VmObserver } from './observe.ts';
import type { ObservedVm } from './observed.ts';

/** Runs until the signal aborts. */
export function runVmController(options: VmObserver & Pick<ControllerOptions<ObservedVm>, 'log' | 'signal'>): Promise<void> {
  const { client, clock, log, signal, vms, vmis, revisions, nodes } = options;
  return runController<ObservedVm>({
    name: 'virtualmachine-controller',
    client,
    clock,
    log,
    signal,
    triggers: [
      changesOf(vms, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vmis, ({ metadata }) => [keyOf(metadata)]), // an instance has the name of its VM
      changesOf(revisions, ownerKeysOf('VirtualMachine')),
      changesOf(nodes, keysOnSilentNode({ vmis, clock })), // also waited for: a node that is not known yet would be a lost one
    ],
    observe: (key) => observeVm(options, key),
    decide: decideVm,
    subject: ({ vm }) => vm,
  });
}
