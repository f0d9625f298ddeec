/** Machines that name an instance type or a preference, at the real API server with virt-api behind it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

const GROUP = '/apis/instancetype.kubevirt.io/v1beta1';
const HERE = '/namespaces/default';
const VMS = `/apis/kubevirt.io/v1${HERE}/virtualmachines`;
const apiVersion = 'instancetype.kubevirt.io/v1beta1';

let count = 0;
function machine(spec: object, domain: object = {}): { metadata: { name: string }; [field: string]: unknown } {
  count += 1;
  const volumes = [
    { name: 'root', containerDisk: { image: 'x:1' } },
    { name: 'labelled', persistentVolumeClaim: { claimName: 'labelled' } },
    { name: 'plain', persistentVolumeClaim: { claimName: 'plain' } },
  ];
  const template = { spec: { domain: { devices: {}, ...domain }, volumes } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: `m${count}` },
    spec: { runStrategy: 'Halted', template, ...spec },
  };
}

describe('instance types and preferences at admission', { timeout: 120_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
    const small = { cpu: { guest: 2 }, memory: { guest: '128Mi' } };
    const make = (path: string, kind: string, name: string, spec: object) =>
      world.send('POST', path, { apiVersion, kind, metadata: { name }, spec });
    const made = [
      await make(`${GROUP}/virtualmachineclusterinstancetypes`, 'VirtualMachineClusterInstancetype', 'small', small),
      await make(`${GROUP}${HERE}/virtualmachineinstancetypes`, 'VirtualMachineInstancetype', 'mine', small),
      await make(`${GROUP}/virtualmachineclusterinstancetypes`, 'VirtualMachineClusterInstancetype', 'pinned', {
        ...small,
        cpu: { guest: 2, dedicatedCPUPlacement: true },
      }),
      await make(`${GROUP}/virtualmachineclusterpreferences`, 'VirtualMachineClusterPreference', 'greedy', {
        requirements: { memory: { guest: '1Gi' } },
      }),
      await claim('labelled', {
        'instancetype.kubevirt.io/default-instancetype': 'mine',
        'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype',
        'instancetype.kubevirt.io/default-preference': 'greedy',
      }),
      await claim('plain', {}),
    ];
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [201], JSON.stringify(made));
  });
  after(() => world.close());

  function claim(name: string, labels: object) {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    return world.send('POST', `/api/v1${HERE}/persistentvolumeclaims`, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, labels }, spec }); // biome-ignore format: one object
  }
  const send = (object: object) => world.send('POST', VMS, object);
  const specOf = (answer: Awaited<ReturnType<typeof send>>) => answer.body['spec'] as Record<string, { [field: string]: unknown }>;

  test('the kind is that of the cluster when it is not said', async () => {
    const made = await send(machine({ instancetype: { name: 'small' } }));
    assert.deepEqual([made.status, specOf(made)['instancetype']], [201, { name: 'small', kind: 'VirtualMachineClusterInstancetype' }]);
    const mine = await send(machine({ instancetype: { name: 'mine', kind: 'virtualmachineinstancetype' } }));
    assert.deepEqual([mine.status, specOf(mine)['instancetype']?.['kind']], [201, 'virtualmachineinstancetype']);
  });

  const REFUSED: [name: string, spec: object, domain: object, expected: [field: string, message: RegExp][]][] = [
    [
      'what contradicts its type is named field by field',
      { instancetype: { name: 'small' } },
      { cpu: { cores: 1 }, memory: { guest: '1Gi' } },
      [
        [
          'spec.template.spec.domain.cpu.cores',
          /^VM field spec\.template\.spec\.domain\.cpu\.cores conflicts with selected instance type$/,
        ],
        ['spec.template.spec.domain.memory.guest', /conflicts with selected instance type$/],
      ],
    ],
    [
      'a type that is not there is named',
      { instancetype: { name: 'none' } },
      {},
      [
        [
          'spec.instancetype',
          /^Failure to find instancetype: virtualmachineclusterinstancetypes\.instancetype\.kubevirt\.io "none" not found$/,
        ],
      ],
    ],
    [
      'a preference that is not there is named',
      { preference: { name: 'none', kind: 'VirtualMachinePreference' } },
      { memory: { guest: '1Gi' } },
      [['spec.preference', /^Failure to find preference: virtualmachinepreferences\.instancetype\.kubevirt\.io "none" not found$/]],
    ],
    [
      'a kind that is none is named',
      { instancetype: { name: 'small', kind: 'Pod' } },
      {},
      [['spec.instancetype', /unexpected kind in instancetypeMatcher: Pod/]],
    ],
    [
      'a preference that asks for more than the type has',
      { instancetype: { name: 'small' }, preference: { name: 'greedy' } },
      {},
      [['spec.instancetype', /insufficient Memory resources of 128Mi provided by instance type, preference requires 1Gi/]],
    ],
    [
      'what a type brings along is refused as if the machine said it',
      { instancetype: { name: 'pinned' } },
      {},
      [['spec.template.spec.domain.cpu.dedicatedCpuPlacement', /^Forbidden: /]],
    ],
    [
      'a volume without a label',
      { instancetype: { inferFromVolume: 'plain' } },
      {},
      [['spec.instancetype.inferFromVolume', /unable to find required instancetype\.kubevirt\.io\/default-instancetype label/]],
    ],
    [
      'a volume that is no claim',
      { preference: { inferFromVolume: 'root' } },
      { memory: { guest: '1Gi' } },
      [['spec.preference.inferFromVolume', /volume root as type is not supported/]],
    ],
    [
      'a volume that is not there, even when failures are to be ignored',
      { instancetype: { inferFromVolume: 'none', inferFromVolumeFailurePolicy: 'Ignore' } },
      {},
      [['spec.instancetype.inferFromVolume', /unable to find volume none/]],
    ],
    [
      'a copy that is not there',
      { instancetype: { name: 'small', revisionName: 'gone' } },
      {},
      [['spec.instancetype', /controllerrevisions\.apps "gone" not found/]],
    ],
  ];
  for (const [name, spec, domain, expected] of REFUSED) {
    test(`${name}: refused`, async () => {
      const { status, body } = await send(machine(spec, domain));
      const causes = body.details?.causes ?? [];
      assert.deepEqual([status, causes.map(({ field }) => field)], [422, expected.map(([field]) => field)], body.message);
      expected.forEach(([, message], at) => assert.match(causes[at]?.message ?? '', message));
    });
  }

  test('a volume says which type goes with it, and takes the place of the memory that was there in case', async () => {
    const made = await send(
      machine({ instancetype: { inferFromVolume: 'labelled', inferFromVolumeFailurePolicy: 'Ignore' } }, { memory: { guest: '512Mi' } }),
    );
    assert.equal(made.status, 201, made.body.message);
    assert.deepEqual(specOf(made)['instancetype'], { name: 'mine', kind: 'VirtualMachineInstancetype' });
    const { template } = specOf(made) as { template?: { spec?: { domain?: object } } };
    assert.deepEqual(template?.spec?.domain, { devices: {}, memory: {} });
  });

  test('a failure that is to be ignored leaves the machine as it is without the choice', async () => {
    const made = await send(
      machine({ instancetype: { inferFromVolume: 'plain', inferFromVolumeFailurePolicy: 'Ignore' } }, { memory: { guest: '512Mi' } }),
    );
    assert.deepEqual([made.status, specOf(made)['instancetype']], [201, undefined]);
  });

  test('a machine whose type is gone can still be edited', async () => {
    const path = `${GROUP}/virtualmachineclusterinstancetypes`;
    await world.send('POST', path, { apiVersion, kind: 'VirtualMachineClusterInstancetype', metadata: { name: 'fleeting' }, spec: { cpu: { guest: 1 }, memory: { guest: '64Mi' } } }); // biome-ignore format: one object
    const given = machine({ instancetype: { name: 'fleeting' } });
    assert.equal((await send(given)).status, 201);
    await world.send('DELETE', `${path}/fleeting`);
    const edited = await world.send('PATCH', `${VMS}/${given.metadata.name}`, { spec: { runStrategy: 'Always' } });
    assert.equal(edited.status, 200, edited.body.message);
    const worse = await world.send('PATCH', `${VMS}/${given.metadata.name}`, { spec: { preference: { name: 'none' } } });
    assert.equal(worse.status, 422);
  });

  test('machines of every size and preference that comes with an installation are taken', async () => {
    const common = parseAllDocuments(readFileSync('deploy/common-instancetypes.yaml', 'utf8')).map((document) => document.toJS());
    const made = common.map(({ kind, ...rest }) => world.send('POST', `${GROUP}/${kind.toLowerCase()}s`, { kind, ...rest }));
    for (const { status, body } of await Promise.all(made)) assert.equal(status, 201, body.message);
    const named = (kind: string) => common.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name as string);
    for (const instancetype of named('VirtualMachineClusterInstancetype').filter((name) => name !== 'u1.nano'))
      for (const preference of named('VirtualMachineClusterPreference')) {
        const { status, body } = await send(machine({ instancetype: { name: instancetype }, preference: { name: preference } }));
        assert.equal(status, 201, `${instancetype} with ${preference}: ${body.message}`);
      }
    const small = await send(machine({ instancetype: { name: 'u1.nano' }, preference: { name: 'fedora' } }));
    assert.match(small.body.message ?? '', /insufficient Memory resources of 512Mi provided by instance type, preference requires 1Gi/);
  });

  test('a type without a size is refused by its schema', async () => {
    const { status, body } = await world.send('POST', `${GROUP}/virtualmachineclusterinstancetypes`, { apiVersion, kind: 'VirtualMachineClusterInstancetype', metadata: { name: 'empty' }, spec: {} }); // biome-ignore format: one object
    assert.deepEqual([status, body.details?.causes?.map(({ field }) => field)], [422, ['spec.cpu', 'spec.memory']]);
  });
});
