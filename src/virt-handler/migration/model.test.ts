import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { mergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { decideDomain } from '../vmi/decide.ts';
import type { DomainState } from '../vmi/domain.ts';
import type { CommandState, DomainCommand } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { followed, now } from '../vmi/world.testing.ts';
import { actHindranceOf } from './act-hindrance.ts';
import { moving, sourcePod, targetPodOf, told, toldOf } from './moves.testing.ts';

type Side = 'source' | 'target';
/** What one QEMU does, whether it says that the last move of it was completed, and what its virt-handler remembers of it. */
type QemuModel = {
  qemu: DomainState | 'gone';
  commands: Record<string, CommandState>;
  wasSent: boolean;
  /** The command for which it was last stopped. */
  stoodFor?: string;
};
type Options = {
  readonly stored?: VirtualMachineInstance;
  /** As the loop does it: no decision from a state that is older than its own last write. Without it even that does no harm to a move. */
  readonly seesOwnWrites?: boolean;
  /** When the guest stands still for the copy of its memory: at its end; at its beginning, too; all the time. */
  readonly standsStill?: 'at the end' | 'at both ends' | 'all the time';
};

const MOST_MOVES = 3;

/** Moves between two nodes that may be late, forgetful and dead in every order; the API alone is one. */
class Move {
  stored: VirtualMachineInstance;
  readonly source: QemuModel = fresh('running');
  /** Each move has a QEMU of its own to go to. */
  readonly targets: Record<string, QemuModel> = { m1: fresh('incoming') };
  /** Which state of the instance each virt-handler last read. */
  readonly #read: Record<Side, VirtualMachineInstance>;
  readonly #options: Options;
  #version = 1;
  #now = now;

  constructor({ stored = moving(told), ...options }: Options = {}) {
    this.stored = stored;
    this.#options = options;
    this.#read = { source: stored, target: stored };
  }

  /** Of the last move that the nodes were told of. */
  get target(): QemuModel {
    return this.targets[uidIn(this.stored)] ?? fresh('gone');
  }

  /** Lets the virt-handler of one side look and act; a write from an old state is refused, as the server does. */
  decide(side: Side): void {
    this.#now += 1_000;
    for (const action of decideDomain(this.#seenBy(side)).actions) {
      if (action.do === 'command') this.#give(side, action.id, action.command);
      if (action.do !== 'patch') continue;
      if (!this.write(action.patch, action.resourceVersion)) return;
      if (this.#options.seesOwnWrites) this.read(side);
    }
  }

  write(patch: object, resourceVersion = this.stored.metadata.resourceVersion): boolean {
    if (resourceVersion !== this.stored.metadata.resourceVersion) return false;
    const written = mergePatch(this.stored, patch) as VirtualMachineInstance;
    this.stored = { ...written, metadata: { ...written.metadata, resourceVersion: String(++this.#version) } };
    return true;
  }

  read(side: Side): void {
    this.#read[side] = this.stored;
  }

  /** QEMU goes one step on with what it was told. */
  proceed(side: Side, luck: number): void {
    const { source } = this;
    const sending = Object.entries(source.commands).find(([id, { is }]) => id.startsWith('send') && is === 'running');
    if (side === 'target' || !sending) {
      this.#endTarget(luck);
      return;
    }
    assert.ok(
      !Object.values(source.commands).some(({ command, is }) => command.name === 'save' && is === 'running'),
      'it is sent and saved',
    );
    const [id, state] = sending;
    const target = this.targets[id.slice('send '.length)];
    const { standsStill = 'at the end' } = this.#options;
    if (target?.qemu !== 'incoming' || luck < 0.1) {
      source.qemu = 'running';
      source.commands[id] = ended(state, 'failed');
    } else if (source.qemu === 'running' && source.stoodFor !== id) {
      source.qemu = standsStill === 'at the end' ? 'switching' : 'paused';
      source.stoodFor = id;
      source.wasSent = false;
    } else if (source.qemu === 'paused' && standsStill === 'at both ends') {
      source.qemu = luck < 0.9 ? 'running' : 'switching';
    } else if (source.qemu !== 'switching') source.qemu = 'switching';
    else {
      this.#arriveFrom(target);
      source.commands[id] = ended(state, 'done');
    }
  }

  /** A virt-handler forgets everything; what QEMU was told last may still happen. */
  restart(side: Side, luck: number): void {
    const { source, target } = this;
    if (side === 'source' && source.qemu === 'switching' && luck < 0.5 && target.qemu === 'incoming') this.#arriveFrom(target);
    for (const each of side === 'source' ? [source] : Object.values(this.targets)) each.commands = {};
    this.read(side);
  }

  /** The machine begins anew, as its QEMU does when it stands still, too. */
  reset(): void {
    if (this.source.qemu === 'paused' || this.source.qemu === 'moved') this.source.qemu = 'prelaunch';
  }

  /** Somebody who has been slow lets the guest go on; what the node knows of it may be old. */
  unpause(): void {
    const vmi = this.#read.source;
    const { qemu, commands } = this.source;
    if (qemu === 'gone' || qemu === 'running' || qemu === 'switching') return;
    const isHere = vmi.metadata.labels?.[LABEL_NODE_NAME] === 'n1';
    const domain = { state: qemu, isGone: false, isConnected: true, commands };
    if (actHindranceOf({ vmi: isHere ? vmi : undefined, domain }) === undefined) this.source.qemu = 'running';
  }

  /** What virt-controller writes of its own accord. */
  control(luck: number): void {
    const { completed, failed, abortRequested, startTimestamp } = this.stored.status?.migrationState ?? {};
    if (completed || failed) return;
    const isSilent = startTimestamp === undefined && luck >= 0.2 && luck < 0.25;
    if (this.target.qemu === 'gone' || isSilent)
      this.write({ status: { migrationState: { failed: true, endTimestamp: timestamp(this.#now) } } });
    else if (luck < 0.2 && !abortRequested) this.write({ status: { migrationState: { abortRequested: true } } });
  }

  /** Somebody asks for a suspension, whatever else goes on, and its Pod is there. */
  suspend(): void {
    if (this.stored.status?.suspension || this.stored.status?.phase !== 'Running') return;
    const suspension = { phase: 'Saving', claimName: 'c', requestedTimestamp: 'T', podUID: 'p1' };
    this.write({ status: { suspension } });
  }

  /** The nodes are told of a move, whatever else goes on. */
  tell(): void {
    if (this.stored.status?.migrationState?.migrationUid === undefined) this.write({ status: { migrationState: told } });
  }

  /** After a move that failed they are told of the next one; a virt-controller of an older release does not ask whether the guest is back. */
  tellAgain(isOlder: boolean): void {
    const { migrationState = {} } = this.stored.status ?? {};
    const count = Object.keys(this.targets).length;
    if (!migrationState.failed || count >= MOST_MOVES || (!isOlder && hindranceOf('move', this.stored))) return;
    const none = Object.fromEntries(Object.keys(migrationState).map((field) => [field, null]));
    const uid = `m${count + 1}`;
    this.targets[uid] = fresh('incoming');
    this.write({ status: { migrationState: { ...none, ...toldOf(uid) } } });
  }

  /** The memory is on its PVC, or could not be written; the machine forgets a suspension that failed. */
  save(luck: number): void {
    const { source } = this;
    const { phase, startTimestamp } = this.stored.status?.suspension ?? {};
    if (phase === 'Failed' && startTimestamp === undefined) this.write({ status: { suspension: null } });
    const state = source.commands['save T'];
    if (state?.is !== 'running') return;
    if (source.qemu === 'running') source.qemu = 'paused';
    else {
      source.qemu = luck < 0.8 ? 'moved' : 'paused';
      const { command, givenAt, tries } = state;
      const result = { digest: 'a'.repeat(64), bytes: 5 };
      source.commands['save T'] = luck < 0.5 ? ended(state, 'failed') : { command, givenAt, tries, is: 'done', endedAt: givenAt, result };
    }
  }

  runningCopies(): number {
    return [this.source, ...Object.values(this.targets)].filter(({ qemu }) => qemu === 'running').length;
  }

  /** Whether a pause that nobody asked for is shown. */
  isSaidToBePaused(): boolean {
    return vmiIs(this.stored, 'Paused');
  }

  #arriveFrom(target: QemuModel): void {
    this.source.qemu = 'moved';
    this.source.wasSent = true;
    target.qemu = 'paused';
  }

  #seenBy(side: Side): ObservedDomain {
    const read = this.#read[side];
    const uid = uidIn(read);
    const { qemu, commands } = side === 'source' ? this.source : (this.targets[uid] ?? fresh('gone'));
    const isHere = read.metadata.labels?.[LABEL_NODE_NAME] === (side === 'source' ? 'n1' : 'n2');
    const pod = side === 'source' ? sourcePod : targetPodOf(uid);
    const place = isHere ? {} : side === 'source' ? { hasLeft: true } : { isComing: true };
    const door = commands['receive']?.is === 'done' ? { host: '10.0.0.2', port: 8186 } : undefined;
    const isGone = qemu === 'gone';
    const domain = { state: isGone ? 'connecting' : qemu, isGone, isConnected: !isGone, commands } as const;
    return { vmi: read, pod, followed: { ...followed, podUid: pod.metadata.uid ?? '' }, domain, door, now: this.#now, ...place };
  }

  #give(side: Side, id: string, command: DomainCommand): void {
    const node = side === 'source' ? this.source : (this.targets[uidIn(this.#read[side])] ?? fresh('gone'));
    const given: CommandState = { command, givenAt: this.#now, tries: 1, is: 'running' };
    node.commands[id] = given;
    if (command.name === 'send' || command.name === 'save') return;
    if (command.name === 'release') node.qemu = 'running';
    if (command.name === 'quit') node.qemu = 'gone';
    if (command.name === 'cont' && node.qemu !== 'switching' && node.qemu !== 'gone') node.qemu = 'running';
    if (command.name === 'arrive') {
      if (node.qemu === 'paused' && command.runs) node.qemu = 'running';
      node.commands[id] = ended(given, node.qemu === 'incoming' ? 'failed' : 'done');
      return;
    }
    const result = command.name === 'call-back' ? callBack(node, command) : undefined;
    node.commands[id] = ended(given, 'done', result);
  }

  /** The QEMU of a target may die before the guest is there; one that dies afterwards ends the machine, which is no matter here. */
  #endTarget(luck: number): void {
    if (this.target.qemu !== 'running' && luck < 0.05) this.target.qemu = 'gone';
  }
}

function fresh(qemu: QemuModel['qemu']): QemuModel {
  return { qemu, commands: {}, wasSent: false };
}

function uidIn({ status }: VirtualMachineInstance): string {
  return status?.migrationState?.migrationUid ?? 'm1';
}

/** Resolves with what QEMU says then. */
function callBack(node: QemuModel, { runs, isKept }: Extract<DomainCommand, { name: 'call-back' }>): string {
  if (node.qemu === 'switching' || (node.qemu === 'paused' && runs)) node.qemu = 'running';
  if (runs && (isKept ? node.qemu === 'moved' || node.qemu === 'prelaunch' : node.qemu === 'prelaunch' && !node.wasSent))
    node.qemu = 'running';
  for (const [each, state] of Object.entries(node.commands))
    if (each.startsWith('send') && state.is === 'running' && node.qemu !== 'moved') node.commands[each] = ended(state, 'failed');
  return node.qemu === 'moved' ? 'postmigrate' : node.qemu;
}

function ended(state: CommandState, is: 'done' | 'failed', result?: unknown): CommandState {
  const { command, givenAt, tries } = state;
  return is === 'done'
    ? { command, givenAt, tries, is, endedAt: givenAt, result }
    : { command, givenAt, tries, is, endedAt: givenAt, reason: 'it went wrong' };
}

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

for (const isOlder of [false, true]) {
  const who = isOlder ? 'a virt-controller of an older release' : 'virt-controller';
  test(`whatever happens in which order, and however often ${who} tells of a move, two copies never run, and one is left`, () => {
    const ends: Record<string, number> = {};
    for (let seed = 1; seed <= 1000; seed++) {
      const end = tryMoves(seed, isOlder);
      ends[end] = (ends[end] ?? 0) + 1;
    }
    // Each end is reached often enough for the test to mean something.
    for (const uid of ['m1', 'm2', 'm3'])
      for (const side of ['source', 'target']) assert.ok((ends[`${side} ${uid}`] ?? 0) > 20, JSON.stringify(ends));
  });
}

/** Where the guest is in the end, and after which move. */
function tryMoves(seed: number, isOlder: boolean): string {
  const next = numbers(seed);
  const move = new Move({ standsStill: (['at the end', 'at both ends', 'all the time'] as const)[seed % 3] ?? 'at the end' });
  const either = (): Side => (next() < 0.5 ? 'source' : 'target');
  for (let step = 0; step < 100; step++) {
    const kind = next();
    if (kind < 0.4) move.decide(either());
    else if (kind < 0.65) move.read(either());
    else if (kind < 0.88) move.proceed(either(), next());
    else if (kind < 0.93) move.control(next());
    else if (kind < 0.96) move.tellAgain(isOlder);
    else if (kind < 0.97) move.reset();
    else if (kind < 0.975) move.unpause();
    else move.restart(either(), next());
    assert.ok(move.runningCopies() <= 1, `seed ${seed}, step ${step}: two copies run`);
  }
  for (let pass = 0; pass < 60; pass++) {
    for (const side of ['source', 'target'] as const) {
      move.read(side);
      move.decide(side);
      move.proceed(side, 1);
      assert.ok(move.runningCopies() <= 1, `seed ${seed}: two copies run at the end`);
    }
    move.control(1);
  }
  const { completed, failed, migrationUid } = move.stored.status?.migrationState ?? {};
  assert.ok(completed !== failed, `seed ${seed}: the move is not over`);
  assert.ok(!move.isSaidToBePaused(), `seed ${seed}: nobody has paused it`);
  const expected = completed ? 'target' : 'source';
  // A target that died after the hand-over takes its guest with it, like every QEMU.
  if (move[expected].qemu !== 'gone') assert.equal(move[expected].qemu, 'running', `seed ${seed}: nobody runs`);
  return `${expected} ${migrationUid}`;
}

test('a guest that is to be moved and suspended at once does one of them, and never runs beside its other copy or beside its saved memory', () => {
  const ends: Record<string, number> = {};
  for (let seed = 1; seed <= 2000; seed++) {
    const next = numbers(seed);
    const move = new Move({ stored: moving({}), seesOwnWrites: true });
    const either = (): Side => (next() < 0.5 ? 'source' : 'target');
    const check = (when: string) => {
      const copies = move.runningCopies() + (move.stored.status?.suspension?.phase === 'Saved' ? 1 : 0);
      assert.ok(copies <= 1, `seed ${seed}, ${when}: two copies`);
    };
    for (let step = 0; step < 60; step++) {
      const kind = next();
      if (kind < 0.35) move.decide(either());
      else if (kind < 0.55) move.read(either());
      else if (kind < 0.7) move.proceed(either(), next());
      else if (kind < 0.82) move.save(next());
      else if (kind < 0.88) move.tell();
      else if (kind < 0.94) move.suspend();
      else move.restart(either(), next());
      check(`step ${step}`);
    }
    for (let pass = 0; pass < 60; pass++) {
      move.tell();
      for (const side of ['source', 'target'] as const) {
        move.read(side);
        move.decide(side);
        move.proceed(side, 1);
        move.save(1);
        check('at the end');
      }
    }
    const { migrationState: { completed } = {}, suspension } = move.stored.status ?? {};
    const expected = suspension?.phase === 'Saved' ? 'saved' : completed ? 'target' : 'source';
    if (expected !== 'saved' && move[expected].qemu !== 'gone') assert.equal(move[expected].qemu, 'running', `seed ${seed}: nobody runs`);
    ends[expected] = (ends[expected] ?? 0) + 1;
  }
  assert.ok((ends['source'] ?? 0) > 50 && (ends['target'] ?? 0) > 50 && (ends['saved'] ?? 0) > 50, JSON.stringify(ends));
});
