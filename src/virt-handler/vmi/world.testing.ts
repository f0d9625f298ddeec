/** Builders for what virt-handler sees, and a toy node with one guest that decisions are applied to until there are none left. */
import assert from 'node:assert/strict';
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstance, VmiPhase, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VMI_PHASES } from '../../api/kubevirt/kinds/virtual-machine-instance-schema.ts';
import { mergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { launcherPod, reached, tinySpec, vmi } from '../../testing/builders.ts';
import { decideDomain } from './decide.ts';
import type { Domain, DomainState } from './domain.ts';
import type { CommandStates, DomainCommand } from './domain-command.ts';
import type { Followed, ObservedDomain } from './observed.ts';

export const now = Date.parse('2026-01-01T00:00:00Z');
/** No connection; whether QEMU lives is not known. */
export const lost: Partial<Domain> = { isConnected: false };
export const gone: Partial<Domain> = { isConnected: false, isGone: true };
const address = { interfaces: [{ name: 'default', ipAddress: '10.244.0.5', ipAddresses: ['10.244.0.5'], infoSource: 'domain' }] };

export function domain(state: DomainState, more: Partial<Domain> = {}): Domain {
  return { state, isConnected: true, isGone: false, commands: {}, ...more };
}

/** Has been told to power off at this time. */
export function asked(at: number): Pick<Domain, 'commands'> {
  return { commands: given({ name: 'system_powerdown' }, at) };
}

/** QEMU has done what it was asked at this time. */
function given(command: DomainCommand, at: number): CommandStates {
  return { [command.name]: { command, givenAt: at, tries: 1, is: 'done', endedAt: at, result: {} } };
}

export function scheduled(): VirtualMachineInstance {
  return vmi('Scheduled', reached('Scheduled'));
}

/** Has been Running for a while: everything that is shown of it is written. */
export function running(status: Partial<VmiStatus> = {}): VirtualMachineInstance {
  return vmi('Running', { ...reached('Scheduled', 'Running'), ...address, ...status });
}

export function final(phase: 'Succeeded' | 'Failed', reason?: string): VirtualMachineInstance {
  return vmi(phase, { ...reached('Scheduled', 'Running', phase), ...address, reason });
}

/** Running, deleted at `now`, with this grace period. */
export function deleted(terminationGracePeriodSeconds: number, from = running()): VirtualMachineInstance {
  return {
    ...from,
    metadata: { ...from.metadata, deletionTimestamp: timestamp(now) },
    spec: { ...tinySpec, terminationGracePeriodSeconds },
  };
}

/** The view `afterMs` after a deletion with a grace period of 30 s. */
export function deleting(afterMs: number, more: Partial<Domain> = {}): Partial<ObservedDomain> {
  return { vmi: deleted(30), domain: domain('running', more), stoppingSince: now, now: now + afterMs };
}

export function livePod(): Pod {
  return launcherPod({ running: { startedAt: timestamp(now) } });
}

export function endedPod(exitCode: number): Pod {
  return launcherPod({ terminated: { exitCode, reason: 'Error', message: 'no disk\n' } });
}

/** The sessions of the guest of `vmi()` in `livePod()` are open. */
export const followed: Followed = { vmi: vmi('Scheduled'), podUid: 'pod-1' };

/** One VMI with a QEMU that does what it is told, in a guest that does or does not obey. */
export class World {
  vmi: VirtualMachineInstance;
  pod: Pod | undefined = livePod();
  followed: Followed | undefined;
  domain: Domain;
  now = now;
  readonly phases: (VmiPhase | undefined)[] = [];
  readonly events: string[] = [];
  readonly #obeysAfter: number;
  #powerdowns = 0;

  constructor(start: { vmi: VirtualMachineInstance; domain: Domain; obeysAfter?: number }) {
    this.vmi = start.vmi;
    this.domain = start.domain;
    this.#obeysAfter = start.obeysAfter ?? Number.POSITIVE_INFINITY;
    this.phases.push(start.vmi.status?.phase);
  }

  /** Decides until nothing follows, jumping to the next time at which something could; ends when that is beyond `horizonMs`. */
  settle(horizonMs = 120_000): void {
    for (let pass = 0; pass < 100; pass++) {
      const { actions, lookAgainAfterMs } = decideDomain({ ...this, stoppingSince: now });
      for (const action of actions) {
        if (action.event) this.events.push(`${action.event.type} ${action.event.reason}`);
        if (action.do === 'patch') this.#write(action.patch);
        if (action.do === 'delete') this.#end();
        if (action.do === 'follow') this.followed = { vmi: this.vmi, podUid: action.podUid };
        if (action.do === 'command') this.#obey(action.command);
      }
      if (actions.length > 0) continue;
      if (lookAgainAfterMs === undefined || this.now + lookAgainAfterMs > now + horizonMs) return;
      this.now += lookAgainAfterMs;
    }
    throw new Error('still changing after 100 passes');
  }

  #write(patch: object): void {
    const before = this.vmi.status?.phase;
    this.vmi = mergePatch(this.vmi, patch) as VirtualMachineInstance;
    const phase = this.vmi.status?.phase;
    if (phase === before) return;
    assert.ok(VMI_PHASES.indexOf(phase!) > VMI_PHASES.indexOf(before!), `${before} -> ${phase} goes backwards`);
    this.phases.push(phase);
  }

  #obey(command: DomainCommand): void {
    this.domain = { ...this.domain, commands: { ...this.domain.commands, ...given(command, this.now) } };
    if (command.name === 'quit') this.#end();
    if (command.name === 'cont') this.domain = { ...this.domain, state: 'running' };
    if (this.domain.state === 'running' && command.name === 'system_powerdown' && ++this.#powerdowns >= this.#obeysAfter)
      this.domain = { ...this.domain, state: 'shutdown' };
  }

  #end(): void {
    this.domain = { ...this.domain, ...gone };
    this.pod = endedPod(0);
  }
}
