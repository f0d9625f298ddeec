import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const GOOD = readFileSync('examples/vm.yaml', 'utf8');

test('mistakes get one clear answer, and nothing half-made stays', async (t) => {
  await using cluster = await EmbeddedCluster.start();

  for (const program of ['kubectl', 'oldKubectl'] as const) {
    await t.test(`${program}: an unknown field is named`, async () => {
      const { code, stderr } = await cluster[program](['create', '-f', '-'], {
        input: GOOD.replace('domain:', 'domian: {}\n      domain:'),
      });
      assert.equal(code, 1);
      assert.match(stderr, /unknown field "?(spec\.template\.spec\.domian|domian)"?/);
    });

    await t.test(`${program}: a wrong type is named`, async () => {
      const { code, stderr } = await cluster[program](['create', '-f', '-'], {
        input: GOOD.replace(/running: true|runStrategy: \w+/, 'running: "maybe"'),
      });
      assert.equal(code, 1);
      assert.match(stderr, /spec\.running/);
    });
  }

  await t.test('nothing was created', async () => {
    assert.equal(await cluster.must('kubectl', ['get', 'vm,vmi,pods', '-o', 'name']), '');
  });

  await t.test('an unknown image is named in the status of the machine, and when it is there the machine starts', async () => {
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: GOOD.replace(/image: .*/, 'image: localhost/guests/nobody:latest') });
    await cluster.until('vm/hello', '.status.conditions[?(@.type=="Synchronized")].status', 'False');
    assert.match(await cluster.field('vm', 'hello', '.status.printableStatus'), /^(ErrImagePull|ImagePullBackOff)$/);
    assert.match(
      await cluster.field('vm', 'hello', '.status.conditions[?(@.type=="Synchronized")].message'),
      /localhost\/guests\/nobody:latest/,
    );
    assert.deepEqual(cluster.guestPids(), []);
    await cluster.must('virtctl', ['image', 'tag', 'localhost/guests/tiny:latest', 'localhost/guests/nobody:latest']);
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    await cluster.must('virtctl', ['image', 'remove', 'localhost/guests/nobody:latest']);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
    assert.equal(await cluster.must('kubectl', ['get', 'vm,vmi,pods', '-o', 'name']), '');
  });

  await t.test('a machine that is not there is NotFound', async () => {
    const { code, stderr } = await cluster.virtctl(['start', 'nobody']);
    assert.equal(code, 3);
    assert.match(stderr, /error\[NotFound\]: .*"nobody" not found/);
  });

  await t.test('a second start of a machine that always runs is a conflict', async () => {
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: GOOD.replace(/image: .*/, 'image: localhost/guests/nobody:latest') });
    const { code, stderr } = await cluster.virtctl(['start', 'hello']);
    assert.equal(code, 4);
    assert.match(stderr, /error\[Conflict\]/);
    await cluster.must('kubectl', ['delete', 'vm', 'hello']);
  });

  await t.test('a second cluster on the same data folder finds the first', async () => {
    assert.match(await cluster.must('virtctl', ['up']), /was running/);
  });
});

test('a busy port is named and the next one is taken', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  const port = await new Promise<number>((resolve) =>
    blocker.once('listening', () => resolve((blocker.address() as { port: number }).port)),
  );
  await using cluster = new EmbeddedCluster();
  try {
    const said = await cluster.must('virtctl', ['up', '--port', String(port)]);
    assert.match(said, new RegExp(`port ${port} is busy`));
    assert.match(await cluster.must('kubectl', ['get', 'ns', 'default', '-o', 'name']), /namespace\/default/);
  } finally {
    blocker.close();
  }
});

test('a machine without QEMU is told what to install', async () => {
  await using cluster = new EmbeddedCluster();
  for (const tool of ['dirname', 'readlink', 'sh']) symlinkSync(`/usr/bin/${tool}`, join(cluster.home, tool));
  symlinkSync(process.execPath, join(cluster.home, 'node'));
  const { code, stderr } = await cluster.virtctl(['up'], { env: { PATH: cluster.home } });
  assert.equal(code, 7);
  assert.match(stderr, /error\[QEMU_MISSING\]: [\s\S]*fix: apt-get install qemu-system-x86/);
});
