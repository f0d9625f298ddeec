import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod } from '../../testing/builders.ts';
import { decideDomain } from '../vmi/decide.ts';
import type { DomainState } from '../vmi/domain.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { deleted, domain, followed, gone, now, running, scheduled } from '../vmi/world.testing.ts';

type Suspension = NonNullable<VmiStatus['suspension']>;
const PATCH = 'patch VirtualMachineInstance default/db';
const AGAIN = 'look again in 5s';
const asked: Suspension = { phase: 'Saving', claimName: 'c', requestedTimestamp: 'T' };
const ready: Suspension = { ...asked, podUID: 'p1' };
const begun: Suspension = { ...ready, startTimestamp: 'T' };
const digest = 'a'.repeat(64);
const at = { command: { name: 'save', podUid: 'p1' }, givenAt: now, tries: 1, endedAt: now } as const;
const saving: CommandState = { ...at, is: 'running' };
const saved: CommandState = { ...at, is: 'done', result: { digest, bytes: 5 } };
const lied: CommandState = { ...at, is: 'done', result: { digest: '../x', bytes: -1 } };
const full: CommandState = { ...at, is: 'failed', reason: 'the PVC did not take it: ENOSPC' };
const LEFT =
  'the machine has the controller of disks on bus scsi that were hotplugged, which no machine has from its start; restart it first';
const by = (state: CommandState) => ({ commands: { 'save T': state } });
const loading = (state: CommandState) => ({ commands: { load: state } });
const of = (suspension: Suspension) => running({ suspension });
const resuming = (phase: Suspension['phase'] = 'Resuming'): VirtualMachineInstance => ({
  ...scheduled(),
  status: { ...scheduled().status, suspension: { phase, claimName: 'c', digest } },
});

const another = of({ phase: 'Resumed', origin: { name: 'first', firmwareUUID: 'u' } });
const becoming = (state: CommandState) => ({ commands: { 'become-another': state } });
const BECOME = 'command become-another: its memory is that of another machine';

const CASES: readonly [string, Partial<ObservedDomain>, string[]][] = [
  ['a PVC that is not there yet is waited for', { vmi: of(asked) }, []],
  [
    'the guest is saved when it is',
    { vmi: of(ready) },
    [`${PATCH}: its memory can be written`, 'command save T: its memory can be written'],
  ],
  [
    'one whose memory no other QEMU would take is not',
    { vmi: of(ready), domain: domain('running', { plugged: { devices: { 'scsi-hotplug': { bus: 'hotplug0' } }, nodes: [], ports: [] } }) },
    [`${PATCH}: ${LEFT}`],
  ],
  [
    'one that is to be moved is not, before both stop it',
    { vmi: running({ suspension: asked, migrationState: { migrationUid: 'm1' } }) },
    [`${PATCH}: the guest is being moved to another node, or called back`],
  ],
  [
    'nor one that is backed up',
    { vmi: running({ suspension: ready, changedBlockTracking: { state: 'Disabled', backupStatus: { backupUID: 'b', claimName: 'c' } } }) },
    [`${PATCH}: the disks of the guest are being backed up`],
  ],
  [
    'nor one whose file systems are frozen, which its agent knows first',
    { vmi: of(ready), agent: { state: 'connected', isFrozen: true } },
    [`${PATCH}: the file systems of the guest are frozen, as for a snapshot`],
  ],
  ['a guest that is being saved is waited for, and is not paused', { vmi: of(begun), domain: domain('paused', by(saving)) }, []],
  ['a saved one has succeeded', { vmi: of(begun), domain: domain('moved', by(saved)) }, [`${PATCH}: its memory is saved`]],
  ['a full disk is told first', { vmi: of(begun), domain: domain('moved', by(full)) }, [`${PATCH}: the PVC did not take it: ENOSPC`]],
  [
    'an answer that is none is not believed',
    { vmi: of(begun), domain: domain('moved', by(lied)) },
    [`${PATCH}: nobody said what was saved`],
  ],
  [
    'a virt-handler that was killed meanwhile has saved nothing',
    { vmi: of(begun), domain: domain('moved') },
    [`${PATCH}: virt-handler was restarted while the guest was saved`],
  ],
  [
    'one that is to stop is not saved',
    { vmi: deleted(30, of(begun)), stoppingSince: now, domain: domain('paused', by(saving)) },
    [`${PATCH}: the instance is being stopped`],
  ],
  ...(['paused', 'moved', 'switching'] as const).map((state): [string, Partial<ObservedDomain>, string[]] => [
    `after that it runs on, from ${state}`,
    { vmi: of({ ...begun, phase: 'Failed' }), domain: domain(state) },
    ['command release: its memory was not saved', AGAIN],
  ]),
  ['and says that it does', { vmi: of({ ...begun, phase: 'Failed' }), domain: domain('running') }, [`${PATCH}: the guest runs on`]],
  ['and is then like any other', { vmi: of({ ...ready, phase: 'Failed' }), domain: domain('running') }, []],
  ['also when somebody pauses it', { vmi: of({ ...ready, phase: 'Failed' }), domain: domain('paused') }, []],
  ['memory is loaded once', { vmi: resuming(), domain: domain('incoming') }, ['command load: the guest resumes with saved memory']],
  ['and waited for', { vmi: resuming(), domain: domain('incoming', loading(saving)) }, []],
  [
    'a loaded guest is told before it runs',
    { vmi: resuming(), domain: domain('paused', loading(saved)) },
    [`${PATCH}: its memory is loaded`],
  ],
  ['whoever loaded it', { vmi: resuming(), domain: domain('paused') }, [`${PATCH}: its memory is loaded`]],
  [
    'memory that cannot be loaded ends the instance',
    { vmi: resuming(), domain: domain('incoming', loading(full)) },
    [`${PATCH}: its memory could not be loaded: the PVC did not take it: ENOSPC`],
  ],
  ['after that it runs', { vmi: { ...of({ phase: 'Resumed' }) }, domain: domain('paused') }, ['command cont: the guest resumes', AGAIN]],
  [
    'and the clock is set',
    { vmi: of({ phase: 'Resumed' }), domain: domain('running') },
    ['set clock: the guest runs again', `${PATCH}: the guest runs again`],
  ],
  ['a guest of another machine runs when it is told who it is', { vmi: another, domain: domain('paused') }, [BECOME]],
  ['also by a virt-handler that was killed meanwhile', { vmi: another, domain: domain('running') }, [BECOME]],
  ['and is waited for', { vmi: another, domain: domain('running', becoming(saving)) }, []],
  [
    'and is then like any other that was resumed',
    { vmi: another, domain: domain('running', becoming(saved)) },
    ['set clock: the guest runs again', `${PATCH}: the guest runs again`],
  ],
  [
    'one that cannot be told ends',
    { vmi: another, domain: domain('running', becoming(full)) },
    [`${PATCH}: its guest could not become a machine of its own: the PVC did not take it: ENOSPC`],
  ],
];

function seen(more: Partial<ObservedDomain>): ObservedDomain {
  const pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { podIP: '10.244.0.5' });
  const vmi = more.vmi ?? running();
  return { vmi, pod, followed: { ...followed, vmi }, domain: domain('running'), now, ...more };
}

describe('what the node does with a guest that is suspended', () => {
  for (const [name, more, expected] of CASES) {
    test(name, () => {
      const lines = explain(decideDomain(seen(more)));
      assert.deepEqual(
        lines.filter((line) => !line.startsWith('look again in 17') && !line.endsWith('what QEMU shows has changed')),
        expected,
      );
    });
  }

  test('a launcher that refuses the memory leaves the reason', () => {
    const { actions } = decideDomain(seen({ vmi: resuming(), domain: domain('incoming', gone) }));
    assert.match(JSON.stringify(actions), /"suspension":\{[^}]*"message":"QEMU is gone"/);
  });
});

/**
 * All orders of what can happen to a guest that is saved: the command ends well or badly, virt-handler is killed (it forgets its commands),
 * a write is lost, somebody stops the machine. In no state is the memory of an instance that is Saved also running here.
 */
test('a guest that counts as saved never runs again', () => {
  type World = { readonly vmi: VirtualMachineInstance; readonly state: DomainState; readonly command: CommandState | undefined };
  const known = new Set<string>();
  const open: World[] = [{ vmi: of(ready), state: 'running', command: undefined }];
  while (open.length > 0) {
    const world = open.pop();
    if (!world) break;
    const key = JSON.stringify([world.vmi.status?.phase, world.vmi.status?.suspension, world.state, world.command?.is]);
    if (known.has(key)) continue;
    known.add(key);
    assert.ok(!(world.vmi.status?.suspension?.phase === 'Saved' && world.state === 'running'), key);
    const commands = world.command ? by(world.command) : {};
    const { actions } = decideDomain(seen({ vmi: world.vmi, domain: domain(world.state, commands) }));
    // Killed after any part of the plan, or before its first.
    for (let done = 0; done <= actions.length; done++) open.push(actions.slice(0, done).reduce(apply, world));
    open.push({ ...world, command: undefined });
    if (world.command?.is === 'running') {
      open.push(
        { ...world, state: 'moved', command: saved },
        { ...world, state: 'moved', command: full },
        { ...world, state: 'paused', command: full },
      );
      open.push({ ...world, state: 'paused' });
    }
  }
  assert.ok(known.size > 15, `${known.size} states say too little`);

  function apply(world: World, action: ReturnType<typeof decideDomain>['actions'][number]): World {
    if (action.do === 'patch') return { ...world, vmi: mergePatch(world.vmi, action.patch) as VirtualMachineInstance };
    if (action.do !== 'command') return world;
    if (action.command.name === 'save') return { ...world, command: saving };
    return action.command.name === 'release' || action.command.name === 'cont' ? { ...world, state: 'running' } : world;
  }
});
