/** Presets and the instances they are about, at the real API server with virt-api behind it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../testing/until.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

const AT = '/apis/kubevirt.io/v1/namespaces/default';
const PRESETS = `${AT}/virtualmachineinstancepresets`;
const VMIS = `${AT}/virtualmachineinstances`;
type Made = { metadata: { annotations?: Record<string, string> }; spec: { domain: { cpu?: object; memory?: object } } };

let count = 0;
function instance(size: string, domain: object = {}, annotations?: object) {
  const metadata = { name: `i${++count}`, labels: { size }, annotations };
  const resources = { requests: { memory: '64Mi' } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    spec: { domain: { devices: {}, resources, ...domain } },
  };
}
function preset(name: string, size: string, domain: object | undefined, version = 'v1') {
  const spec = { selector: { matchLabels: { size } }, domain };
  return { apiVersion: `kubevirt.io/${version}`, kind: 'VirtualMachineInstancePreset', metadata: { name }, spec };
}

describe('presets at admission', { timeout: 120_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
    const made = [
      await world.send('POST', PRESETS, preset('two', 'small', { cpu: { cores: 2 } })),
      await world.send('POST', PRESETS, preset('one', 'contrary', { cpu: { cores: 1 } })),
      await world.send('POST', PRESETS, preset('more', 'contrary', { cpu: { cores: 2 } })),
    ];
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
    assert.match(made[0]?.warning ?? '', /deprecated in KubeVirt/);
    // virt-api follows them: from here on it knows all.
    await until(async () => (await send(instance('contrary'))).status === 422, 'virt-api to know them');
  });
  after(() => world.close());
  const send = (object: object) => world.send('POST', VMIS, object);

  test('an instance with the label is given what it leaves open, and says so', async () => {
    const { status, body, warning } = await send(instance('small'));
    const { metadata, spec } = body as unknown as Made;
    assert.deepEqual([status, spec.domain.cpu, warning], [201, { cores: 2, model: 'host-model' }, '']);
    assert.deepEqual(metadata.annotations, { 'virtualmachinepreset.kubevirt.io/two': 'kubevirt.io/v1' });
  });

  test('an instance that says it itself keeps it; the author is told, and the note is there for an event', async () => {
    const { status, body, warning } = await send(instance('small', { cpu: { cores: 1 } }));
    const { metadata, spec } = body as unknown as Made;
    assert.deepEqual([status, spec.domain.cpu], [201, { cores: 1, model: 'host-model' }]);
    assert.match(
      warning,
      /spec\.domain\.cpu: the instance has a value of its own in the place of that of VirtualMachineInstancePreset two/,
    );
    assert.deepEqual(metadata.annotations, { 'virtualmachineinstancepresets.admission.kubevirt.io/overridden': 'two: cpu' });
  });

  test('an instance of two presets that contradict each other is refused', async () => {
    const { status, body } = await send(instance('contrary'));
    assert.equal(status, 422);
    assert.deepEqual(
      body.details?.causes?.map(({ field }) => field),
      ['spec.domain.cpu'],
    );
    assert.match(body.message ?? '', /VirtualMachineInstancePresets more and one say different things of it/);
    const excluded = { 'virtualmachineinstancepresets.admission.kubevirt.io/exclude': 'true' };
    assert.equal((await send(instance('contrary', {}, excluded))).status, 201);
  });

  test('other labels and other namespaces are not meant', async () => {
    const { body } = await send(instance('large'));
    assert.equal((body as unknown as Made).metadata.annotations, undefined);
  });

  const REFUSED: [name: string, domain: object | undefined, field: string, message: RegExp][] = [
    ['a preset that gives nothing', undefined, 'spec.domain', /what instances are given/],
    ['a part that presets do not give', { memory: { guest: '1Gi' } }, 'spec.domain.memory', /given by presets|presets give/],
    ['a part that is not honoured', { cpu: { dedicatedCpuPlacement: true } }, 'spec.domain.cpu.dedicatedCpuPlacement', /CPU manager/],
    ['a part of another shape', { cpu: 'two' }, 'spec.domain.cpu', /object/],
  ];
  for (const [name, domain, field, message] of REFUSED)
    test(`${name} is refused`, async () => {
      const { status, body } = await world.send('POST', PRESETS, preset('bad', 'small', domain));
      assert.deepEqual([status, body.details?.causes?.map((cause) => cause.field)], [422, [field]], body.message);
      assert.match(body.message ?? '', message);
    });

  test('both published versions are served', async () => {
    const old = PRESETS.replace('/v1/', '/v1alpha3/');
    assert.equal((await world.send('POST', old, preset('old', 'tiny', { cpu: { cores: 1 } }, 'v1alpha3'))).status, 201);
    assert.equal((await world.send('GET', `${PRESETS}/old`)).status, 200);
  });
});
