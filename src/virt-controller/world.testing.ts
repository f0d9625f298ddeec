/**
 * A toy cluster with one VM: applies decisions of both controllers until there are none left, so that tests can catch flapping.
 * It keeps the rules of the API that the controllers lean on: uids, conditional patches, finalizers, unique names.
 */
import type { ContainerState, Pod } from '../api/core/pod.ts';
import { FINALIZER_VM_CONTROLLER } from '../api/kubevirt/names.ts';
import type { VirtualMachine } from '../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance, VmiPhase } from '../api/kubevirt/virtual-machine-instance.ts';
import { controllerOf, isControlledBy, isDeleting, type KubeObject, type ObjectMeta } from '../api/meta.ts';
import { timestamp } from '../base/clock.ts';
import { mergePatch } from '../base/json.ts';
import { type Action, type Decision, explain } from '../reconcile/decision.ts';
import { decideVm } from './vm/decide.ts';
import { decideVmi } from './vmi/decide.ts';

export class World {
  now = Date.parse('2026-01-01T00:00:00Z');
  /** Every printable status, phase and event reason, in order, without repetitions. */
  readonly history: string[] = [];
  #objects = new Map<string, KubeObject>();
  #counter = 0;

  constructor(vm: VirtualMachine) {
    this.#put(vm);
  }

  get vm(): VirtualMachine | undefined {
    return this.#find('VirtualMachine') as VirtualMachine | undefined;
  }

  get vmi(): VirtualMachineInstance | undefined {
    return this.#find('VirtualMachineInstance') as VirtualMachineInstance | undefined;
  }

  get pod(): Pod | undefined {
    return this.#find('Pod') as Pod | undefined;
  }

  /** Lets both controllers act until neither has anything left to do; returns the last wish to look again. */
  settle(limit = 40): number | undefined {
    for (let pass = 0; pass < limit; pass++) {
      const decisions = [this.#decideVm(), this.#decideVmi()];
      for (const decision of decisions) this.#apply(decision);
      if (decisions.every(({ actions }) => actions.length === 0)) return decisions.find((d) => d.lookAgainAfterMs)?.lookAgainAfterMs;
    }
    throw new Error(`still changing after ${limit} passes: ${explain(this.#decideVm())}; ${explain(this.#decideVmi())}`);
  }

  /** The Pod as a kubelet reports it: scheduled on n1, its container in this state; a deleted Pod that has ended goes away. */
  kubelet(state: ContainerState): void {
    const pod = this.pod;
    if (!pod) throw new Error('there is no Pod');
    const phase = state.running ? 'Running' : state.terminated ? (state.terminated.exitCode === 0 ? 'Succeeded' : 'Failed') : 'Pending';
    const compute = { name: 'compute', image: '', imageID: '', ready: !!state.running, restartCount: 0, state };
    const conditions = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
    const isReady = !!state.running && conditions.some(({ status }) => status === 'True');
    const ready = { type: 'Ready', status: isReady ? ('True' as const) : ('False' as const) };
    const status = { ...pod.status, phase, containerStatuses: [compute], conditions: [...conditions, ready] } as const;
    this.#put({ ...pod, spec: { ...pod.spec, nodeName: 'n1' }, status } as Pod);
    if (state.terminated && isDeleting(pod)) this.#objects.delete(idOf(pod));
  }

  /** virt-handler writes a phase. */
  handler(phase: VmiPhase): void {
    const vmi = this.vmi;
    if (!vmi) throw new Error('there is no VMI');
    const stamps = [...(vmi.status?.phaseTransitionTimestamps ?? []), { phase, phaseTransitionTimestamp: timestamp(this.now) }];
    this.#put({ ...vmi, status: { ...vmi.status, phase, phaseTransitionTimestamps: stamps } } as VirtualMachineInstance);
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

  /** A user edits the VM. */
  edit(patch: object): void {
    if (this.vm) this.#put(mergePatch(this.vm, patch) as VirtualMachine);
  }

  remove(object: KubeObject | undefined): void {
    if (!object || isDeleting(object)) return;
    const holds = object.kind === 'Pod' ? (object as Pod).spec.nodeName !== undefined : (object.metadata.finalizers ?? []).length > 0;
    if (!holds) this.#objects.delete(idOf(object));
    else this.#put({ ...object, metadata: { ...object.metadata, deletionTimestamp: timestamp(this.now) } });
  }

  #decideVm(): Decision {
    const { vm, vmi, now } = this;
    if (!vm) return { actions: [] };
    if (!vmi || isControlledBy(vmi, vm)) return decideVm({ vm, vmi, now });
    return decideVm({ vm, stranger: vmi, mayAdopt: !controllerOf(vmi) && !isDeleting(vmi), now });
  }

  #decideVmi(): Decision {
    const { vm, vmi, pod, now } = this;
    if (!vmi) return { actions: [] };
    const isVmGone = !!vmi.metadata.finalizers?.includes(FINALIZER_VM_CONTROLLER) && !(vm && isControlledBy(vmi, vm));
    return decideVmi({ vmi, pods: pod ? [pod] : [], isVmGone, launcherImage: 'launcher', now });
  }

  /** As reconcile does: in order, and no further than the first that finds the world changed. */
  #apply({ actions }: Decision): void {
    for (const action of actions) {
      if (!this.#applyOne(action)) return;
      if (action.event) this.history.push(action.event.reason);
    }
  }

  #applyOne(action: Action): boolean {
    if (action.do === 'create') {
      if (this.#find(action.object.kind)) return false;
      this.#counter += 1;
      const { kind, metadata } = action.object;
      this.#put({ ...action.object, metadata: { ...metadata, uid: `${kind}-${this.#counter}`, creationTimestamp: timestamp(this.now) } });
    }
    if (action.do === 'delete') {
      const object = this.#find(action.target.kind);
      if (object?.metadata.uid === action.target.uid) this.remove(object);
    }
    return action.do !== 'patch' || this.#patch(action);
  }

  #patch({ target, patch, resourceVersion }: Extract<Action, { do: 'patch' }>): boolean {
    const object = this.#find(target.kind);
    if (!object || object.metadata.uid !== target.uid) return false;
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) return false;
    const next = mergePatch(object, patch) as KubeObject;
    if (isDeleting(next) && (next.metadata.finalizers ?? []).length === 0) this.#objects.delete(idOf(next));
    else this.#put(next);
    return true;
  }

  #find(kind: string): KubeObject | undefined {
    return [...this.#objects.values()].find((object) => object.kind === kind);
  }

  #put(object: KubeObject): void {
    this.#counter += 1;
    const metadata: ObjectMeta = { ...object.metadata, resourceVersion: String(this.#counter) };
    this.#objects.set(idOf(object), { ...object, metadata });
    const { printableStatus, phase } = (object as { status?: { printableStatus?: string; phase?: string } }).status ?? {};
    const word = object.kind === 'Pod' ? undefined : (printableStatus ?? phase);
    if (!word) return;
    const kind = object.kind === 'VirtualMachine' ? 'vm' : 'vmi';
    const last = this.history.findLast((seen) => seen.startsWith(`${kind} `));
    if (last !== `${kind} ${word}`) this.history.push(`${kind} ${word}`);
  }
}

function idOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}
