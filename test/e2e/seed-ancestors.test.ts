/** The commands of the published documents of VirtualMachineInstanceConfig and OfflineVirtualMachine, with real guests. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const OVM = 'ovm-cirros';
const merge = (patch: object) => ['--type', 'merge', '-p', JSON.stringify(patch)];

describe('the two ancestors of VirtualMachine', { concurrency: true }, () => {
  let cluster: EmbeddedCluster;
  before(async () => {
    cluster = await EmbeddedCluster.start();
  });
  after(() => cluster[Symbol.asyncDispose]());

  test('an OfflineVirtualMachine: created, started, restarted, stopped, orphaned, adopted, deleted', async () => {
    assert.match(
      await cluster.must('kubectl', ['create', '-f', 'test/manifests/003-ovm-cirros.yaml']),
      /offlinevirtualmachine.kubevirt.io\/ovm-cirros created/,
    );
    assert.equal(await cluster.must('kubectl', ['get', 'vms', '-o', 'name']), '');
    const started = await cluster.virtctl(['start', 'omv', OVM]);
    assert.deepEqual([started.code, started.stdout], [0, `OVM ${OVM} was scheduled to start\n`]);
    assert.match(started.stderr, /note: omv is taken as ovm/);
    await cluster.until(`ovm/${OVM}`, '.status.ready', 'true');
    const described = await cluster.must('kubectl', ['describe', 'ovm', OVM]);
    assert.match(described, /Status:\s+Created: +true\s+Ready: +true\s+Events:/);
    assert.match(described, /Normal +SuccessfulCreate +\S+ +offlinevirtualmachine-controller +Created virtual machine: ovm-cirros/);
    const uuid = await cluster.field('vmi', OVM, '.spec.domain.firmware.uuid');
    const uid = await cluster.field('vm', OVM, '.metadata.uid');

    await cluster.must('kubectl', ['delete', 'virtualmachine', OVM]);
    await cluster.must('kubectl', ['wait', `vm/${OVM}`, '--for=create', '--timeout=60s']);
    await cluster.until(`vm/${OVM}`, '.status.printableStatus', 'Running');
    assert.notEqual(await cluster.field('vm', OVM, '.metadata.uid'), uid);
    assert.equal(await cluster.field('vmi', OVM, '.spec.domain.firmware.uuid'), uuid);

    assert.equal(await cluster.must('virtctl', ['stop', OVM]), `OVM ${OVM} was scheduled to stop\n`, 'the VM is kept by the OVM');
    await cluster.untilGone(`vm/${OVM}`);
    await cluster.until(`ovm/${OVM}`, '.status.created', 'false');

    await cluster.must('kubectl', ['patch', 'offlinevirtualmachine', OVM, ...merge({ spec: { running: true } })]);
    await cluster.until(`ovm/${OVM}`, '.status.ready', 'true');
    const machine = await cluster.field('vm', OVM, '.metadata.uid');
    await cluster.must('kubectl', ['delete', 'offlinevirtualmachine', OVM, '--cascade=orphan']);
    assert.equal(await cluster.field('vm', OVM, '.metadata.uid'), machine);
    await cluster.must('kubectl', ['create', '-f', 'test/manifests/003-ovm-cirros.yaml']);
    assert.equal(await cluster.must('virtctl', ['start', 'ovm', OVM]), `OVM ${OVM} was scheduled to start\n`);
    await cluster.until(`ovm/${OVM}`, '.status.ready', 'true');
    assert.equal(await cluster.field('vm', OVM, '.metadata.uid'), machine);
    assert.equal(await cluster.field('vm', OVM, '.metadata.ownerReferences[0].kind'), 'OfflineVirtualMachine');

    await cluster.must('kubectl', ['delete', 'offlinevirtualmachine', OVM]);
    await cluster.untilGone(`vmi/${OVM}`);
    await cluster.untilGone(`vm/${OVM}`);
  });

  test('a VirtualMachineInstanceConfig: started by GET and by virtctl, edited, stopped, deleted', async () => {
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachineinstanceconfigs/c1`;
    const instances = async () =>
      (await cluster.must('kubectl', ['get', 'vmi', '-l', 'kubevirt.io/vmic=c1', '-o', 'name'])).split('\n').filter(Boolean);
    await cluster.must('kubectl', ['create', '-f', 'examples/seeds/002-vm-config.yaml']);
    assert.deepEqual(await instances(), []);
    const first = JSON.parse(await cluster.must('kubectl', ['get', '--raw', `${path}/start`]));
    assert.match(first.metadata.name, /^c1-\w{5}$/);
    assert.equal(first.metadata.ownerReferences[0].name, 'c1');
    await cluster.until(`vmi/${first.metadata.name}`, '.status.phase', 'Running');

    await cluster.must('kubectl', [
      'patch',
      'vmic',
      'c1',
      ...merge({ spec: { template: { metadata: { annotations: { edited: 'yes' } } } } }),
    ]);
    assert.match(await cluster.must('virtctl', ['start', 'vmic', 'c1']), /^VMIC c1 was scheduled to start: VMI c1-\w{5}\n$/);
    const [a, b] = await instances();
    assert.ok(a && b);
    const second = [a, b].map((each) => each.split('/')[1] ?? '').find((each) => each !== first.metadata.name) ?? '';
    assert.equal(await cluster.field('vmi', second, '.metadata.annotations.edited'), 'yes');
    assert.equal(await cluster.field('vmi', first.metadata.name, '.metadata.annotations.edited'), '');

    assert.equal(
      await cluster.must('virtctl', ['pause', 'vmi', first.metadata.name]),
      `VMI ${first.metadata.name} was scheduled to pause\n`,
    );
    await cluster.until(`vmi/${first.metadata.name}`, '.status.conditions[?(@.type=="Paused")].status', 'True');
    assert.match((await cluster.virtctl(['pause', 'vmi', first.metadata.name])).stderr, /already paused/);
    await cluster.must('virtctl', ['unpause', first.metadata.name]);
    await cluster.until(`vmi/${first.metadata.name}`, '.status.conditions[?(@.type=="Ready")].status', 'True');

    await cluster.must('kubectl', ['delete', 'vmi', second]);
    assert.deepEqual(await instances(), [`virtualmachineinstance.kubevirt.io/${first.metadata.name}`]);
    await cluster.must('kubectl', ['get', '--raw', `${path}/stop`]);
    await cluster.untilGone(`vmi/${first.metadata.name}`);
    assert.equal(await cluster.field('vmic', 'c1', '.status'), '');
    await cluster.must('virtctl', ['start', 'c1']);
    await cluster.must('kubectl', ['delete', 'vmic', 'c1']);
    await cluster.must('kubectl', ['wait', 'vmi', '-l', 'kubevirt.io/vmic=c1', '--for=delete', '--timeout=60s']);
    assert.deepEqual(await instances(), []);
  });
});
