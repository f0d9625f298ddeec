import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const MANIFEST = 'test/manifests/001-vm-cirros.yaml';
const VM = 'vm-cirros';
const RUN = '{"spec":{"running":true}}';
const HALT = '{"spec":{"running":false}}';

test('the machine of the first seed: created, started, edited, restarted, stopped, orphaned, adopted', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  let uuid = '';

  await t.test('running: false makes no instance', async () => {
    assert.match(await cluster.must('kubectl', ['create', '-f', MANIFEST]), /virtualmachine.kubevirt.io\/vm-cirros created/);
    assert.equal(await cluster.must('kubectl', ['get', 'vmis', '-o', 'name']), '');
    assert.match(await cluster.must('kubectl', ['get', 'vms']), /NAME +AGE +STATUS +VOLUME +READY\nvm-cirros +\S+ +Stopped/);
  });

  await t.test('running: true boots a guest of the same name, whose script is on the console', async () => {
    await cluster.must('kubectl', ['patch', 'virtualmachine', VM, '--type', 'merge', '-p', RUN]);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    assert.match(await console.expect(/guest ready/), /printed from cloud-init userdata/);
    await console.login();
    uuid = (await console.command('cat /sys/class/dmi/id/product_uuid')).trim().toLowerCase();
    assert.match(uuid, /^[0-9a-f-]{36}$/);
    assert.equal(uuid, await cluster.field('vmi', VM, '.spec.domain.firmware.uuid'));
    assert.equal(await console.command('hostname'), VM);
  });

  await t.test('status and events say so', async () => {
    await cluster.until(`vm/${VM}`, '.status.ready', 'true');
    assert.equal(await cluster.field('vm', VM, '.status.created'), 'true');
    const described = await cluster.must('kubectl', ['describe', 'vm', VM]);
    assert.match(
      described,
      /Normal +SuccessfulCreate +\S+( \(x\d+ over \S+\))? +virtualmachine-controller +Created virtual machine: vm-cirros/,
    );
    const vmiEvents = await cluster.must('kubectl', [
      'get',
      'events',
      '--field-selector',
      `involvedObject.name=${VM},type=Warning`,
      '-o',
      'name',
    ]);
    assert.equal(vmiEvents, '', 'a Warning on the happy path');
  });

  await t.test('deleting the instance restarts it from the edited template, with the same identity', async () => {
    const before = await cluster.field('vmi', VM, '.metadata.uid');
    await cluster.must('kubectl', [
      'patch',
      'vm',
      VM,
      '--type',
      'merge',
      '-p',
      '{"spec":{"template":{"spec":{"domain":{"resources":{"requests":{"memory":"160Mi"}}}}}}}',
    ]);
    await cluster.must('kubectl', ['delete', 'vmi', VM]);
    await cluster.untilReplaced(VM, before);
    assert.equal(await cluster.field('vmi', VM, '.spec.domain.resources.requests.memory'), '160Mi');
    assert.equal(await cluster.field('vmi', VM, '.spec.domain.firmware.uuid'), uuid);
  });

  await t.test('running: false shuts the guest down by the power button and removes the instance', async () => {
    await using console = cluster.console(VM);
    await console.expect(/login: /);
    await cluster.must('kubectl', ['patch', 'vm', VM, '--type', 'merge', '-p', HALT]);
    await console.expect(/guest is powering off/);
    await cluster.untilGone(`vmi/${VM}`);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Stopped');
    assert.deepEqual(cluster.guestPids(), []);
  });

  await t.test('virtctl starts it again; deleting the machine removes the instance first', async () => {
    assert.equal(await cluster.must('virtctl', ['start', 'vm', VM]), `VM ${VM} was scheduled to start\n`);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await cluster.must('kubectl', ['delete', 'vm', VM]);
    assert.equal(await cluster.must('kubectl', ['get', 'vm,vmi,pods', '-o', 'name']), '');
    assert.deepEqual(cluster.guestPids(), []);
  });

  await t.test('an orphaned guest runs on and is adopted by a machine of the same name', async () => {
    await cluster.must('kubectl', ['create', '-f', MANIFEST]);
    assert.equal(await cluster.must('virtctl', ['start', VM]), `VM ${VM} was scheduled to start\n`);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    const uid = await cluster.field('vmi', VM, '.metadata.uid');
    const pids = cluster.guestPids();

    await cluster.must('kubectl', ['delete', 'vm', VM, '--cascade=orphan']);
    assert.equal(await cluster.field('vmi', VM, '.metadata.ownerReferences'), '');
    assert.deepEqual(cluster.guestPids(), pids);

    await cluster.must('kubectl', ['create', '-f', MANIFEST, '--dry-run=client', '-o', 'json']).then(async (json) => {
      const vm = JSON.parse(json);
      vm.spec.running = true;
      await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(vm) });
    });
    await cluster.until(`vmi/${VM}`, '.metadata.ownerReferences[0].name', VM);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    assert.equal(await cluster.field('vmi', VM, '.metadata.uid'), uid);
    assert.deepEqual(cluster.guestPids(), pids);
  });
});
