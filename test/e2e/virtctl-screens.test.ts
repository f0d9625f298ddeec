/** The screen and the console of a real guest, for one viewer and for several. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const PNG = '89504e470d0a1a0a';

test('the screen and the console of a guest', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('virtctl', ['run', 'tiny', '--name', 'web', '--memory', '128Mi', '--detach']);
  await cluster.until('vm/web', '.status.printableStatus', 'Running');
  const kubeconfig = join(cluster.home, 'kubeconfig');

  await t.test('vnc screenshot writes a PNG to a file, and to the standard output', async () => {
    const file = join(cluster.home, 'web.png');
    assert.equal(await cluster.must('virtctl', ['vnc', 'screenshot', 'web', '--file', file]), '');
    const picture = readFileSync(file);
    assert.equal(picture.subarray(0, 8).toString('hex'), PNG);
    const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
    assert.ok(width >= 320 && height >= 200, `${width} x ${height}`);
    const child = spawn(VIRTCTL, ['vnc', 'screenshot', 'web', '-f', '-', '-m', '--kubeconfig', kubeconfig]);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    assert.equal(Buffer.concat(chunks).subarray(0, 8).toString('hex'), PNG);
    const left = await cluster.must('kubectl', ['get', 'vmi', 'web', '-o', 'jsonpath={.status.phase}']);
    assert.equal(left, 'Running');
  });

  await t.test('a screenshot needs a file, and a machine that runs', async () => {
    assert.equal((await cluster.virtctl(['vnc', 'screenshot', 'web'])).code, 2);
    const { code, stderr } = await cluster.virtctl(['vnc', 'screenshot', 'nobody', '-f', '-']);
    assert.equal(code, 3);
    assert.match(stderr, /^error\[NotFound\]: virtualmachineinstances\.kubevirt\.io "nobody" not found\nfix: .*\n$/);
  });

  await t.test('several look at one screen; who preserves a session is refused beside another', async () => {
    await using first = await proxy(['web']);
    await using second = await proxy(['web']);
    await using alone = await proxy(['web', '--preserve-session']);
    await using late = await proxy(['web', '--preserve-session']);
    const greetings = [await greet(first.port), await greet(second.port), await greet(alone.port)];
    for (const { text } of greetings) assert.match(text, /^RFB 003\.\d{3}\n$/);
    assert.equal((await greet(late.port)).text, '');
    assert.match(late.stderr(), /somebody else looks at it/);
    for (const { socket } of greetings) socket.destroy();
  });

  await t.test('a viewer, also one that only looks, is shown the screen', async () => {
    for (const args of [['web'], ['web', '--view-only']]) {
      await using shown = await proxy(args);
      assert.ok((await pictureFrom(shown.port)).length > 16, args.join(' '));
    }
  });

  await t.test('of two at the console one types, the other takes over with Ctrl+T', async () => {
    await using first = cluster.console('web');
    await first.login();
    await using second = cluster.console('web');
    await first.expect(/somebody else types now/);
    second.type('\necho from-second\n');
    await first.expect(/from-second\r\n/);
    first.type('echo lost\n');
    first.type('\x14');
    await second.expect(/somebody else types now/);
    await first.expect(/you type again/);
    first.type('echo from-first\n');
    const seen = await second.expect(/\r\nfrom-first\r\n/);
    assert.equal(seen.includes('lost'), false);
    assert.match(await cluster.must('virtctl', ['logs', 'web']), /\nfrom-first\n/);
  });

  await t.test('a restart by force takes the launcher Pod away, and another instance comes', async () => {
    const before = await cluster.field('vmi', 'web', '.metadata.uid');
    const pods = (uid: string) => cluster.must('kubectl', ['get', 'pods', '-l', `kubevirt.io/created-by=${uid}`, '-o', 'name']);
    assert.match(await pods(before), /^pod\//);
    assert.equal(await cluster.must('virtctl', ['restart', 'web', '--force', '--grace-period=0']), 'VM web was scheduled to restart\n');
    const [old = ''] = (await pods(before)).split('\n');
    if (old !== '') await cluster.untilGone(old, 30);
    await cluster.untilReplaced('web', before);
    assert.equal(cluster.guestPids().length, 1);
  });

  await t.test('expand fills in what was left open, of a machine and of a file', async () => {
    const stored = JSON.parse(await cluster.must('virtctl', ['expand', '--vm', 'web', '-o', 'json']));
    assert.equal(stored.spec.template.spec.domain.machine.type, 'q35');
    assert.equal(await cluster.field('vm', 'web', '.spec.template.spec.domain.machine.type'), '');
    assert.match(await cluster.must('virtctl', ['expand', '-f', 'examples/vm.yaml']), /masquerade/);
    assert.equal((await cluster.virtctl(['expand'])).code, 2);
    assert.equal((await cluster.virtctl(['expand', '--vm', 'nobody'])).code, 3);
    const elsewhere = await cluster.virtctl(['expand', '-f', '-'], {
      input: '{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a, namespace: other}}',
    });
    assert.match(elsewhere.stderr, /VM namespace must be \S+, found "other"/);
  });

  async function proxy(args: readonly string[]) {
    const child = spawn(VIRTCTL, ['vnc', ...args, '--proxy-only', '--kubeconfig', kubeconfig]);
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const [line] = await once(child.stdout, 'data');
    return {
      port: JSON.parse(String(line)).port as number,
      stderr: () => said,
      async [Symbol.asyncDispose]() {
        child.kill();
        await once(child, 'exit');
      },
    };
  }
});

/** What a screen says first; nothing when the connection is refused. */
async function greet(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const text = await new Promise<string>((done) => {
    socket.once('data', (said) => done(String(said)));
    socket.once('close', () => done(''));
  });
  return { socket, text };
}

/** Does what a viewer does: agrees on a version and on no password, asks for a picture, and gives the first bytes of the answer. */
async function pictureFrom(port: number): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const chunks = socket.iterator({ destroyOnReturn: false });
  let held = Buffer.alloc(0);
  const read = async (bytes: number): Promise<Buffer> => {
    while (held.length < bytes) {
      const { done, value } = await chunks.next();
      if (done) throw new Error(`the screen ended; ${held.length} of ${bytes} bytes were there`);
      held = Buffer.concat([held, value]);
    }
    const taken = held.subarray(0, bytes);
    held = held.subarray(bytes);
    return taken;
  };
  try {
    socket.write(await read(12));
    const [count = 0] = await read(1);
    assert.ok((await read(count)).includes(1), 'no password is wanted');
    socket.write(Buffer.from([1]));
    assert.equal((await read(4)).readUInt32BE(), 0);
    socket.write(Buffer.from([1]));
    const size = await read(24);
    await read(size.readUInt32BE(20));
    socket.write(Buffer.from([2, 0, 0, 1, 0, 0, 0, 0])); // raw pixels
    socket.write(Buffer.from([4, 1, 0, 0, 0, 0, 0xff, 0xe1])); // Shift
    socket.write(Buffer.from([4, 0, 0, 0, 0, 0, 0xff, 0xe1]));
    socket.write(Buffer.from([3, 0, 0, 0, 0, 0, 0, 8, 0, 8]));
    const [kind] = await read(4);
    assert.equal(kind, 0, 'a picture');
    return await read(17);
  } finally {
    socket.destroy();
  }
}
