/** What starts a guest again without ending it: the instance, its Pod and its QEMU stay the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

test('reset and soft reboot keep the instance, its Pod and its QEMU', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vmi/hello', '.status.phase', 'Running');
  await using console = cluster.console('hello');
  await console.expect(/guest ready/);
  const subresource = `/apis/subresources.kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachineinstances/hello`;
  const put = (what: string) => cluster.must('kubectl', ['replace', '--raw', `${subresource}/${what}`, '-f', '-'], { input: '{}' });
  const who = async () => ({
    instance: await cluster.field('vmi', 'hello', '.metadata.uid'),
    pod: await cluster.must('kubectl', ['get', 'pods', '-l', 'kubevirt.io=virt-launcher', '-o', 'jsonpath={.items[*].metadata.uid}']),
    restarts: await cluster.must('kubectl', [
      'get',
      'pods',
      '-l',
      'kubevirt.io=virt-launcher',
      '-o',
      'jsonpath={.items[*].status.containerStatuses[*].restartCount}',
    ]),
    qemu: cluster.guestPids(),
  });
  const before = await who();
  assert.deepEqual([before.qemu.length, before.restarts.replaceAll(/[0 ]/g, '')], [1, ''], before.restarts);

  for (const what of ['reset', 'softreboot'])
    await t.test(`${what}: the guest boots again and everything else stays`, async () => {
      await console.login();
      assert.equal(await console.command('touch /run/before; ls /run/before'), '/run/before');
      await put(what);
      await console.expect(/guest ready/);
      await console.login();
      assert.match(await console.command('ls /run/before'), /No such file/);
      console.type('exit\n');
      assert.deepEqual(await who(), before);
      assert.equal(await cluster.field('vmi', 'hello', '.status.phase'), 'Running');
    });
});
