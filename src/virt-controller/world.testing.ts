/** A toy cluster with one VM: applies decisions of both controllers until there are none left, so that tests can catch flapping. */
import type { ControllerRevision } from '../api/core/controller-revision.ts';
import type { ContainerState, Pod } from '../api/core/pod.ts';
import type { ReferencePolicy } from '../api/kubevirt/configuration/cluster-configuration.ts';
import { CHOICE_NAMES, kindMeant } from '../api/kubevirt/instancetype/choices-table.ts';
import { type Chosen, isCopy, readCopy, revisionNameOf } from '../api/kubevirt/instancetype/chosen.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance, VmiPhase } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { FINALIZER_VM_CONTROLLER } from '../api/kubevirt/names.ts';
import { COMPUTE_CONTAINER } from '../api/launcher/compute.ts';
import { controllerOf, isControlledBy, isDeleting, type KubeObject } from '../api/meta.ts';
import { timestamp } from '../base/timestamp.ts';
import { type Decision, explain, nothingToDo } from '../reconcile/decision.ts';
import { Cluster, type Snapshot } from './cluster.testing.ts';
import { isStale } from './node-heartbeat.ts';
import { decideVm } from './vm/decide.ts';
import { decideVmi } from './vmi/decide.ts';

export class World extends Cluster {
  constructor(vm?: VirtualMachine) {
    super();
    if (vm) this.put(vm);
  }

  get vm(): VirtualMachine | undefined {
    return this.find<VirtualMachine>('VirtualMachine');
  }

  get vmi(): VirtualMachineInstance | undefined {
    return this.find<VirtualMachineInstance>('VirtualMachineInstance');
  }

  get pod(): Pod | undefined {
    return this.find<Pod>('Pod');
  }

  /** Of the installation. */
  referencePolicy: ReferencePolicy = 'reference';

  /** When the node was last heard of; undefined when that does not matter. */
  heartbeatAt(): number | undefined {
    return undefined;
  }

  /** What has to be true at every moment. */
  check(): void {}

  /** Lets all controllers act until none has anything left to do; returns the last wish to look again. */
  settle(limit = 40): number | undefined {
    for (let pass = 0; pass < limit; pass++) {
      const decisions = this.decide();
      for (const decision of decisions) {
        this.apply(decision);
        this.check();
      }
      this.collect();
      if (decisions.every(({ actions }) => actions.length === 0)) return decisions.find((d) => d.lookAgainAfterMs)?.lookAgainAfterMs;
    }
    throw new Error(`still changing after ${limit} passes: ${this.decide().flatMap(explain).join('; ')}`);
  }

  /** What each controller wants now. */
  decide(): Decision[] {
    return [this.decideVm(this.snapshot), this.decideVmi(this.snapshot)];
  }

  /** What the VM controller wants, given caches that may be behind. */
  decideVm(seen: Snapshot): Decision {
    const { now, referencePolicy } = this;
    const vm = first<VirtualMachine>(seen, 'VirtualMachine');
    const vmi = first<VirtualMachineInstance>(seen, 'VirtualMachineInstance');
    if (!vm) return nothingToDo;
    const kept = all<ControllerRevision>(seen, 'ControllerRevision').filter((each) => isControlledBy(each, vm));
    const [revisions, copies] = [kept.filter((each) => !isCopy(each)), kept.filter(isCopy)];
    const chosen = chosenIn(seen, vm);
    const heartbeatAt = vmi?.status?.nodeName ? this.heartbeatAt() : undefined;
    if (!vmi || isControlledBy(vmi, vm)) return decideVm({ vm, vmi, revisions, copies, chosen, referencePolicy, heartbeatAt, now });
    // as observe does: adoption is decided on a fresh look at the VM
    const isSame = this.vm?.metadata.uid === vm.metadata.uid && this.vm !== undefined && !isDeleting(this.vm);
    return decideVm({
      vm,
      stranger: vmi,
      mayAdopt: isSame && !controllerOf(vmi) && !isDeleting(vmi) && !isDeleting(vm),
      revisions,
      copies,
      chosen,
      referencePolicy,
      now,
    });
  }

  /** What the VMI controller wants, given caches that may be behind. That there is no Pod it asks the server, as observe does. */
  decideVmi(seen: Snapshot): Decision {
    const { now } = this;
    const vmi = first<VirtualMachineInstance>(seen, 'VirtualMachineInstance');
    if (!vmi) return nothingToDo;
    const known = all<Pod>(seen, 'Pod').filter((pod) => isControlledBy(pod, vmi));
    const pods = known.length > 0 ? known : this.list<Pod>('Pod').filter((pod) => isControlledBy(pod, vmi));
    const vm = first<VirtualMachine>(seen, 'VirtualMachine');
    const isVmGone = !!vmi.metadata.finalizers?.includes(FINALIZER_VM_CONTROLLER) && !(vm && isControlledBy(vmi, vm));
    const isNodeLost = isStale(vmi.status?.nodeName ? this.heartbeatAt() : undefined, now);
    return decideVmi({ vmi, pods, isVmGone, isNodeLost, launcherImage: 'launcher', now });
  }

  /** The Pod as a kubelet reports it: scheduled on n1, its container in this state; a deleted Pod that has ended goes away. */
  kubelet(state: ContainerState): void {
    const pod = this.pod;
    if (!pod) throw new Error('there is no Pod');
    const phase = state.running ? 'Running' : state.terminated ? (state.terminated.exitCode === 0 ? 'Succeeded' : 'Failed') : 'Pending';
    const compute = { name: COMPUTE_CONTAINER, image: '', imageID: '', ready: !!state.running, restartCount: 0, state };
    const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
    const isReady = !!state.running && conditions.some(({ status }) => status === 'True');
    const ready = { type: 'Ready', status: isReady ? ('True' as const) : ('False' as const) };
    const status = { ...pod.status, phase, containerStatuses: [compute], conditions: [...conditions, ready] } as const;
    this.put({ ...pod, spec: { ...pod.spec, nodeName: 'n1' }, status } as Pod);
    if (state.terminated && isDeleting(pod)) this.drop(pod);
  }

  /** virt-handler writes a phase. */
  handler(phase: VmiPhase): void {
    const vmi = this.vmi;
    if (!vmi) throw new Error('there is no VMI');
    const stamps = [...(vmi.status?.phaseTransitionTimestamps ?? []), { phase, phaseTransitionTimestamp: timestamp(this.now) }];
    this.put({ ...vmi, status: { ...vmi.status, phase, phaseTransitionTimestamps: stamps } } as VirtualMachineInstance);
  }

  /** From a decided start to a ready guest. */
  boot(): void {
    this.kubelet({ running: { startedAt: timestamp(this.now) } });
    this.settle();
    this.handler('Running');
    this.settle();
    this.kubelet({ running: { startedAt: timestamp(this.now) } });
    this.settle();
  }
}

function all<T extends KubeObject>(seen: Snapshot, kind: T['kind']): T[] {
  return [...seen.values()].filter((object): object is T => object.kind === kind);
}

function first<T extends KubeObject>(seen: Snapshot, kind: T['kind']): T | undefined {
  return all<T>(seen, kind)[0];
}

/** What findChosen would find. */
function chosenIn(seen: Snapshot, vm: VirtualMachine): Chosen {
  return Object.fromEntries(
    CHOICE_NAMES.filter((choice) => vm.spec[choice]).map((choice) => {
      const kept = revisionNameOf(vm, choice);
      const { name, kind } = vm.spec[choice] ?? {};
      const resource = kindMeant(choice, kind);
      const revision = all<ControllerRevision>(seen, 'ControllerRevision').find(({ metadata }) => metadata.name === kept);
      if (kept) return [choice, readCopy(choice, kept, revision)];
      const object = all(seen, resource?.kind ?? '').find(({ metadata }) => metadata.name === name);
      return [choice, object ? { object } : { missing: `${resource?.plural}.${resource?.group} "${name}" not found` }];
    }),
  );
}
