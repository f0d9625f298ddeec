/**
 * Random histories of one VM: users, guests, Pods, nodes and components do what they may do at any time, and the controllers decide on
 * caches that are behind. After each history everybody comes to rest, and what is promised has to hold.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../api/core/pod.ts';
import { runStrategyOf } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { RUN_STRATEGIES } from '../api/kubevirt/kinds/virtual-machine-schema.ts';
import { HEARTBEAT_STALE_AFTER_MS } from '../api/kubevirt/names.ts';
import { isControlledBy, isDeleting } from '../api/meta.ts';
import { timestamp } from '../base/timestamp.ts';
import { vm } from '../testing/builders.ts';
import type { Snapshot } from './cluster.testing.ts';
import { World } from './world.testing.ts';

const STEPS = Number(process.env['MODEL_STEPS'] ?? 100_000);
const STEPS_PER_HISTORY = 40;
/** Half of the steps: otherwise hardly a guest would ever run. */
const PROGRESS = ['caches catch up', 'the VM controller looks', 'the VMI controller looks', 'the kubelet reports', 'the guest runs'];

/** mulberry32: small, seeded, good enough to shuffle steps. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

class Model extends World {
  readonly story: string[] = [];
  /** Instances that a user has asked to stop, by request. */
  readonly #stopped = new Set<string | undefined>();
  readonly #roll: (sides: number) => number;
  /** What each controller's caches show; never older than its own last write. */
  #seen: [vm: Snapshot, vmi: Snapshot];
  #past: Snapshot[] = [];
  /** Since when nothing is heard of the node: its guest goes on, and nobody knows. */
  #silentSince: number | undefined;

  override heartbeatAt(): number {
    return this.#silentSince ?? this.now;
  }

  constructor(seed: number) {
    super();
    this.#roll = dice(seed);
    this.put(vm(RUN_STRATEGIES[this.#roll(RUN_STRATEGIES.length)] ?? 'Always', {}, { finalizers: [], uid: undefined }));
    this.#seen = [this.snapshot, this.snapshot];
  }

  step(): void {
    const names = this.#roll(2) === 0 ? PROGRESS : Object.keys(this.#moves);
    const name = names[this.#roll(names.length)] ?? '';
    if (this.#moves[name]?.() !== false) this.story.push(name);
    this.#past = [...this.#past, this.snapshot].slice(-5);
    this.check();
  }

  /** Nothing is heard of the node for long: what is shown is that nobody knows, and nothing takes the place of a Pod that may be alive. */
  checkSilence(): void {
    this.#silentSince ??= this.now;
    this.now += 2 * HEARTBEAT_STALE_AFTER_MS;
    this.settle();
    const { vm: machine, vmi } = this;
    const isUp = vmi?.status?.phase === 'Running' || vmi?.status?.phase === 'Scheduled';
    if (!machine || isDeleting(machine) || !isUp || isDeleting(vmi)) return;
    assert.equal(machine.status?.printableStatus, 'Unknown', `a silent node is not told: ${this.#describe()}`);
  }

  /** Guests that are asked to stop do so, everything else happens as it should, until nothing changes any more. */
  rest(): void {
    this.#silentSince = undefined;
    for (let round = 0; round < 60; round++) {
      const before = digestOf(this.snapshot);
      this.now += this.settle() ?? 0;
      this.settle();
      this.#report();
      this.settle();
      if ((this.vmi && isDeleting(this.vmi)) || (this.pod && isDeleting(this.pod))) this.#end('Succeeded');
      if (this.pod && this.vmi && !isDeleting(this.vmi)) this.#run();
      this.settle();
      if (digestOf(this.snapshot) === before) return;
    }
    assert.fail(`never comes to rest: ${this.#describe()}`);
  }

  /** What has to be true when nothing changes any more. */
  checkRest(): void {
    const { vm: machine, vmi } = this;
    if (!machine) {
      assert.equal(vmi, undefined, `an instance outlived its VM: ${this.#describe()}`);
      return;
    }
    const strategy = runStrategyOf(machine);
    const isUp = vmi?.status?.phase === 'Running';
    if (strategy === 'Always') assert.ok(isUp, `Always, and it does not run: ${this.#describe()}`);
    if (strategy === 'Halted') assert.equal(vmi, undefined, `a stop was lost: ${this.#describe()}`);
    const isStopLost = strategy !== 'Once' && vmi !== undefined && this.#stopped.has(vmi.metadata.uid);
    assert.ok(!isStopLost, `a stop request was lost: ${this.#describe()}`);
    const shown = machine.status?.printableStatus;
    const atRest = strategy === 'Once' && machine.status?.startFailure ? 'CrashLoopBackOff' : 'Stopped';
    assert.equal(shown, isUp ? 'Running' : atRest, `the status lies: ${this.#describe()}`);
    assert.deepEqual(
      [machine.status?.created, machine.status?.ready],
      [vmi !== undefined, isUp],
      `created or ready lies: ${this.#describe()}`,
    );
  }

  /** What has to be true at every moment. */
  override check(): void {
    const alive = this.list<Pod>('Pod').filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    assert.ok(alive.length <= 1, `two instances at once: ${this.#describe()}`);
    const { vm: machine, vmi } = this;
    const isGivenUp = vmi?.status?.reason === 'NodeUnresponsive' && alive.some((pod) => isControlledBy(pod, vmi));
    assert.ok(!isGivenUp, `given up while its Pod may be alive: ${this.#describe()}`);
    const isHonest = machine?.status?.printableStatus !== 'Stopped' || vmi?.status?.phase !== 'Running' || this.#isUnseen();
    assert.ok(isHonest, `Stopped, while a guest runs that was seen: ${this.#describe()}`);
  }

  /** The VM controller has not looked since the guest came up. */
  #isUnseen(): boolean {
    return this.#seen[0] !== this.snapshot;
  }

  #moves: Record<string, () => unknown> = {
    'the VM controller looks': () => this.#look(0),
    'the VMI controller looks': () => this.#look(1),
    'the VM controller looks again': () => this.#look(0),
    'the VMI controller looks again': () => this.#look(1),
    'caches catch up': () => {
      this.#seen = [this.snapshot, this.snapshot];
    },
    'components restart': () => {
      this.#seen = [this.snapshot, this.snapshot];
      this.collect();
    },
    'the kubelet reports': () => this.#report(),
    'the guest runs': () => this.#run(),
    'the guest powers off': () => this.#end('Succeeded'),
    'the guest crashes': () => this.#end('Failed'),
    'the launcher fails': () => {
      const phase = this.vmi?.status?.phase;
      return !this.#isSilent && this.pod && !isPodOver(this.pod) && phase !== 'Running' && this.kubelet(ended(1, this.now));
    },
    'the Pod is lost': () => this.pod && this.drop(this.pod),
    'the Pod is evicted': () => this.pod && this.remove(this.pod),
    'the node falls silent': () => {
      this.#silentSince ??= this.now;
    },
    'the node is heard of again': () => {
      this.#silentSince = undefined;
    },
    'a user deletes the instance': () => this.vmi && this.remove(this.vmi),
    'a user changes the strategy': () => this.#user({ spec: { runStrategy: RUN_STRATEGIES[this.#roll(RUN_STRATEGIES.length)] } }),
    'a user starts': () => this.#mayAsk && this.#user({ status: { stateChangeRequests: [{ action: 'Start' }] } }),
    'a user restarts': () => this.#mayAsk && this.#askToStop([{ action: 'Start' }]),
    'a user stops': () => this.#askToStop([]),
    'a user edits the template': () => this.#user({ spec: { template: { spec: { hostname: `h${this.#roll(3)}` } } } }),
    'a user deletes the VM': () => this.#roll(8) === 0 && this.vm && this.remove(this.vm),
    'time passes': () => {
      this.now += this.#roll(120_000);
    },
  };

  /** What happens on a silent node is not seen here. */
  get #isSilent(): boolean {
    return this.#silentSince !== undefined;
  }

  #report(): void {
    if (this.#isSilent || !this.pod || isPodOver(this.pod)) return;
    const { startedAt = timestamp(this.now) } = this.pod.status?.containerStatuses?.[0]?.state?.running ?? {};
    this.kubelet({ running: { startedAt } });
  }

  #run(): void {
    if (!this.#isSilent && this.vmi?.status?.phase === 'Scheduled') this.handler('Running');
  }

  #user(patch: object): boolean {
    if (!this.vm || isDeleting(this.vm)) return false;
    this.edit('VirtualMachine', patch);
    return true;
  }

  /** As virt-api has it: nothing is asked for while something is, but for a stop, and nothing of Once, which ignores it. */
  get #mayAsk(): boolean {
    return (this.vm?.status?.stateChangeRequests ?? []).length === 0;
  }

  #askToStop(then: readonly object[]): boolean {
    const uid = this.vmi?.metadata.uid;
    if (!uid || !this.vm || runStrategyOf(this.vm) === 'Once') return false;
    const isAsked = this.#user({ status: { stateChangeRequests: [{ action: 'Stop', uid }, ...then] } });
    if (isAsked) this.#stopped.add(uid);
    return isAsked;
  }

  /** One look with caches of some age; afterwards they show what was written. */
  #look(which: 0 | 1): void {
    const older = this.#past[this.#roll(this.#past.length + 1)];
    const isNewer = older && newest(older) > newest(this.#seen[which]);
    if (isNewer) this.#seen = which === 0 ? [older, this.#seen[1]] : [this.#seen[0], older];
    const decision = which === 0 ? this.decideVm(this.#seen[0]) : this.decideVmi(this.#seen[1]);
    this.apply(decision);
    if (decision.actions.length > 0) this.#seen = which === 0 ? [this.snapshot, this.#seen[1]] : [this.#seen[0], this.snapshot];
  }

  #end(phase: 'Succeeded' | 'Failed'): void {
    if (this.#isSilent) return;
    const current = this.vmi?.status?.phase;
    if (current === 'Running') this.handler(phase);
    if (this.pod?.spec.nodeName && this.vmi && isFinal(this.vmi)) this.kubelet(ended(0, this.now));
    else if (this.pod && isDeleting(this.pod)) this.kubelet(ended(0, this.now));
  }

  #describe(): string {
    return JSON.stringify({
      story: this.story.slice(-25),
      vm: this.vm?.spec.runStrategy,
      status: this.vm?.status,
      vmi: this.vmi?.status?.phase,
    });
  }
}

function ended(exitCode: number, now: number) {
  return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt: timestamp(now) } };
}

function isPodOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Everything but versions: a report of the same is no change. */
function digestOf(snapshot: Snapshot): string {
  return JSON.stringify([...snapshot.values()].map(({ metadata, ...rest }) => [{ ...metadata, resourceVersion: '' }, rest]));
}

function newest(snapshot: Snapshot): number {
  return Math.max(0, ...[...snapshot.values()].map(({ metadata }) => Number(metadata.resourceVersion ?? 0)));
}

describe('one VM through anything', () => {
  test(`${STEPS} random steps: never two instances, never a lost stop, always at rest in the end, and the status is true`, (t) => {
    t.diagnostic(`${STEPS} steps in ${Math.floor(STEPS / STEPS_PER_HISTORY)} histories`);
    for (let seed = 1; seed <= STEPS / STEPS_PER_HISTORY; seed++) {
      const model = new Model(seed);
      try {
        for (let step = 0; step < STEPS_PER_HISTORY; step++) model.step();
        if (seed % 4 === 0) model.checkSilence();
        model.rest();
        model.checkRest();
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
