import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

test('the commands that make and look at machines, with a real guest', async (t) => {
  await using cluster = await EmbeddedCluster.start();

  await t.test('doctor finds nothing that blocks', async () => {
    const { ok, checks } = JSON.parse(await cluster.must('virtctl', ['doctor', '--json']));
    assert.equal(ok, true);
    for (const name of ['node', 'qemu', 'cluster', 'api', 'certificate'])
      assert.equal(checks.find((check: { name: string }) => check.name === name)?.status, 'ok', name);
    assert.match(await cluster.must('virtctl', ['doctor']), /✓ api +https:\/\/127.0.0.1:\d+ answered in \d+ ms/);
  });

  await t.test('a manifest that create vm writes is accepted', async () => {
    const yaml = await cluster.must('virtctl', [
      ...['create', 'vm', '--name', 'written', '--run-strategy', 'Halted', '--memory', '128Mi'],
      ...['--volume-containerdisk', 'src:localhost/guests/tiny:latest,name:root'],
    ]);
    await cluster.must('kubectl', ['create', '-f', '-'], { input: yaml });
    assert.match(
      await cluster.must('virtctl', ['why', 'written']),
      /written is stopped, as its run strategy says\n.*Halted\n.*virtctl start written/s,
    );
  });

  await t.test('run --dry-run prints the manifest and makes nothing', async () => {
    assert.match(await cluster.must('virtctl', ['run', 'tiny', '--name', 'dry', '--dry-run']), /image: localhost\/guests\/tiny:latest/);
    assert.equal(await cluster.must('virtctl', ['ls', '-o', 'name']), 'virtualmachine.kubevirt.io/written\n');
  });

  await t.test('run --detach makes a machine and says its name', async () => {
    assert.equal(await cluster.must('virtctl', ['run', 'tiny', '--name', 'web', '--memory', '128Mi', '--detach']), 'web\n');
    const again = await cluster.virtctl(['run', 'tiny', '--name', 'web', '--detach']);
    assert.equal(again.code, 4);
    assert.match(again.stderr, /error\[AlreadyExists\]/);
    await cluster.until('vm/web', '.status.printableStatus', 'Running');
  });

  await t.test('ls shows what runs and what does not', async () => {
    const table = await cluster.must('virtctl', ['ls', '-A', '-o', 'wide']);
    assert.match(table, /^NAMESPACE +NAME +STATUS +AGE +IP +NODE +CPUS +MEMORY +IMAGE\n/);
    assert.match(table, /default +web +Running +\d+s +(10|127)\.244\.\d+\.\d+ +\S+ +1 +128Mi +localhost\/guests\/tiny:latest\n/);
    assert.match(table, /default +written +Stopped +\d+s +- +- +1 +128Mi/);
    assert.deepEqual(JSON.parse(await cluster.must('virtctl', ['ls', '-o', 'json'])).items.length, 2);
  });

  await t.test('why has nothing to complain about, and logs shows what the guest printed', async () => {
    assert.match(await cluster.must('virtctl', ['why', 'web']), /nothing blocks: web is running/);
    await using console = cluster.console('web');
    await console.expect(/login: /);
    const printed = await cluster.must('virtctl', ['logs', 'web']);
    assert.match(printed, /\nguest ready\n/);
    assert.match(await cluster.must('virtctl', ['logs', 'web', '--tail', '1']), /^\S+ login: \n$/);
    assert.equal(printed.includes('\r') || printed.includes('\x1b'), false);
  });

  await t.test('top shows what a machine uses, and says who is not there', async () => {
    const table = await cluster.must('virtctl', ['top']);
    assert.match(table, /^NAME +CPU\(cores\) +CPUS +MEMORY\(bytes\) +GUEST +NODE\n/);
    const [, cores, memory] = /^web +(\d+)m +1 +(\d+)Mi +128Mi +\S+$/m.exec(table) ?? [];
    assert.ok(Number(cores) >= 0 && Number(cores) < 16_000, table);
    assert.ok(Number(memory) > 16 && Number(memory) < 1024, table);
    assert.match(await cluster.must('virtctl', ['top', 'web', '-A']), /^default +web /m);
    const { code, stderr } = await cluster.virtctl(['top', 'nobody']);
    assert.match(`${code} ${stderr}`, /^3 error\[NotFound\]: there is no running machine "nobody"/);
  });

  await t.test('vnc --proxy-only says where the screen is', async () => {
    const child = spawn(join(PROJECT, 'bin/virtctl'), ['vnc', 'web', '--proxy-only', '--kubeconfig', join(cluster.home, 'kubeconfig')]);
    try {
      const [said] = await once(child.stdout, 'data');
      const socket = connect(JSON.parse(String(said)).port, '127.0.0.1');
      const [greeting] = await once(socket, 'data');
      assert.match(String(greeting), /^RFB 003\.\d{3}\n$/);
      socket.destroy();
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  await t.test('the log of the cluster is for people', async () => {
    assert.match(await cluster.must('virtctl', ['logs', '--system']), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info {2}\S/m);
    assert.equal((await cluster.must('virtctl', ['logs', '--system', '--tail', '2'])).trimEnd().split('\n').length, 2);
  });

  await t.test('an image that is not there is the answer to why', async () => {
    // `run` would refuse it; kubectl knows nothing of images.
    const input = await cluster.must('virtctl', [
      ...['create', 'vm', '--name', 'broken', '--memory', '128Mi'],
      ...['--volume-containerdisk', 'src:localhost/guests/nowhere'],
    ]);
    await cluster.must('kubectl', ['create', '-f', '-'], { input });
    await cluster.until('vmi/broken', '.status.conditions[?(@.type=="Synchronized")].status', 'False', 60);
    assert.match(
      await cluster.must('virtctl', ['why', 'broken']),
      /broken waits for an image that cannot be fetched\n.*localhost\/guests\/nowhere/s,
    );
    const { code, stderr } = await cluster.virtctl(['logs', 'broken']);
    assert.equal(code, 4);
    assert.match(stderr, /error\[VM_NOT_RUNNING\].*\n.*\nfix: virtctl why broken/);
  });

  await t.test('names that are not there are told apart from other failures', async () => {
    for (const command of ['why', 'logs']) {
      const { code, stderr } = await cluster.virtctl([command, 'nobody']);
      assert.equal(code, 3);
      assert.match(stderr, /there is no virtual machine "nobody" in namespace default/);
    }
  });

  await t.test('a shell can ask for the names of machines', async () => {
    const proposed = async (...words: string[]) => {
      const lines = (await cluster.must('virtctl', ['__complete', ...words])).trimEnd().split('\n');
      return lines.map((line) => line.split('\t')[0]).sort();
    };
    for (const command of [['console'], ['exec'], ['credentials', 'set-password'], ['expose', 'vm'], ['expand', '--vm']])
      assert.deepEqual(await proposed(...command, 'w'), ['web', 'written'], command.join(' '));
    assert.deepEqual(await proposed('port-forward', 'vm/w'), ['vm/web', 'vm/written']);
    assert.deepEqual(await proposed('ssh', 'root@vmi/w'), ['root@vmi/web', 'root@vmi/written']);
    assert.deepEqual(await proposed('ssh', 'root@v'), ['root@vm/broken', 'root@vm/web', 'root@vm/written']);
  });
});
