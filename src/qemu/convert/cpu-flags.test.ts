import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { cpuFlags } from './cpu-flags.ts';
import { boardOf } from './machine.ts';
import { renderBoard } from './render-arguments.ts';
import { input, valuesOf } from './vmi.testing.ts';

const domain = (patch: Partial<Domain>): Domain => ({ devices: {}, ...patch });
const hyperv = (patch: NonNullable<NonNullable<Domain['features']>['hyperv']>) => domain({ features: { hyperv: patch } });

const CASES: [name: string, domain: Domain, kvm: string[], tcg: string[]][] = [
  ['nothing is said', domain({}), [], []],
  ['KVM is hidden', domain({ features: { kvm: { hidden: true } } }), ['kvm=off'], ['kvm=off']],
  ['no clock of KVM', domain({ clock: { timer: { kvm: { present: false } } } }), ['kvmclock=off'], ['kvmclock=off']],
  ['locks that give way', domain({ features: { pvspinlock: {} } }), ['kvm-pv-unhalt=on'], []],
  ['interrupts', domain({ features: { apic: { endOfInterrupt: true } } }), ['apic=on', 'kvm-pv-eoi=on'], ['apic=on']],
  [
    'the well-known features for Windows',
    domain({
      features: { hyperv: { relaxed: {}, vapic: {}, spinlocks: { spinlocks: 8191 } } },
      clock: { timer: { hyperv: {} } },
    }),
    ['hv-relaxed=on', 'hv-vapic=on', 'hv-spinlocks=8191', 'hv-time=on'],
    [],
  ],
  ['a feature that is off', hyperv({ relaxed: { enabled: false } }), [], []],
  ['what a feature needs', hyperv({ synictimer: {} }), ['hv-vpindex=on', 'hv-synic=on', 'hv-stimer=on'], []],
  ['a comma in a vendor id stays part of it', hyperv({ vendorid: { vendorid: 'a,b' } }), ['hv-vendor-id=a,,b'], []],
  ['a feature that must be there', domain({ cpu: { features: [{ name: 'aes' }] } }), ['aes=on', 'enforce=on'], ['aes=on', 'enforce=on']],
  [
    'features that may be there or must not',
    domain({
      cpu: {
        features: [
          { name: 'aes', policy: 'optional' },
          { name: 'vmx', policy: 'disable' },
        ],
      },
    }),
    ['aes=on', 'vmx=off'],
    ['aes=on', 'vmx=off'],
  ],
];
for (const [name, given, kvm, tcg] of CASES) {
  test(`processor flags: ${name}`, () => assert.deepEqual([cpuFlags(given, 'kvm'), cpuFlags(given, 'tcg')], [kvm, tcg]));
}

const hostile = domain({ cpu: { features: [{ name: 'aes=on,kvm' }] } });
test('a feature never becomes two', () => assert.throws(() => cpuFlags(hostile, 'tcg'), { code: 'TEXT_INVALID' }));

test('timers and parts of the board', () => {
  const options = (accel: 'kvm' | 'tcg') => {
    const board = boardOf({
      ...input(
        {},
        {},
        {
          clock: { timer: { hpet: { present: false }, pit: { tickPolicy: 'delay' }, rtc: { tickPolicy: 'catchup', track: 'guest' } } },
          features: { acpi: { enabled: false }, smm: {} },
        },
      ),
      host: { accel },
    });
    const args = renderBoard(board);
    return ['-machine', '-rtc', '-global'].map((option) => valuesOf(args, option)[0]);
  };
  assert.deepEqual(options('kvm'), ['q35,acpi=off,smm=on,hpet=off', 'base=utc,clock=vm,driftfix=slew', 'kvm-pit.lost_tick_policy=delay']);
  assert.deepEqual(options('tcg')[2], undefined);
});
