/** Keeps every instance and its launcher Pod in step until virt-handler takes over: the loop of `observe`, `decide` and apply. */
import { ANNOTATION_DOMAIN } from '../../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { keysOnSilentNode } from '../node-heartbeat.ts';
import { instancesWith } from './claim-sizes.ts';
import { decideVmi } from './decide.ts';
import { observeVmi, type VmiObserver } from './observe.ts';
import type { ObservedVmi } from './observed.ts';

/** Runs until the signal aborts. */
export function runVmiController(options: VmiObserver & Pick<ControllerOptions<ObservedVmi>, 'log' | 'metrics' | 'signal'>): Promise<void> {
  const { client, clock, log, metrics, signal, vms, vmis, pods, attachments, claimSizes, nodes } = options;
  return runController<ObservedVmi>({
    name: 'virt-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(vmis, ({ metadata }) => [keyOf(metadata)]),
      changesOf(pods, ownerKeysOf('VirtualMachineInstance')),
      changesOf(attachments, keyOfMachine),
      changesOf(claimSizes, (claim) => instancesWith(vmis, claim)),
      changesOf(vms, ({ metadata }) => [keyOf(metadata)]), // its end lets the instance go
      changesOf(nodes, keysOnSilentNode({ vmis, clock })), // also waited for: a node that is not known yet would be a lost one
    ],
    observe: (key) => observeVmi(options, key),
    decide: decideVmi,
    subject: ({ vmi }) => vmi,
  });
}

/** What a Pod says of itself is good enough for a look at the machine that it names. */
function keyOfMachine({ metadata: { namespace, annotations } }: KubeObject): readonly string[] {
  const name = annotations?.[ANNOTATION_DOMAIN];
  return name === undefined ? [] : [keyOf({ namespace, name })];
}
