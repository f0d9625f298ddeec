import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { startQemu } from '../../qemu/qmp/qemu.testing.ts';
import { Forwards, parseForwards } from './forwards.ts';

const ADDRESS = '127.77.0.9';

test('a real QEMU opens ports on the address of the Pod, each once, whoever asks', async (t) => {
  const qemu = await startQemu(t, { args: ['-netdev', 'user,id=net0'] });
  const qmp = await connectQmp({
    path: qemu.qmpPath,
    signal: new AbortController().signal,
    clock: systemClock,
    timeoutMs: 5_000,
    onEvent: () => {},
  });
  t.after(() => qmp.close());
  const monitor = async (_key: string, line: string) => String(await qmp.execute('human-monitor-command', { 'command-line': line }));
  const wanted = { key: 'default/db', address: ADDRESS, protocol: 'tcp', port: 20_080 } as const;

  const forwards = new Forwards(monitor);
  assert.deepEqual(await Promise.all([forwards.open(wanted), forwards.open(wanted)]), [20_080, 20_080]);
  assert.equal(await new Forwards(monitor).open(wanted), 20_080, 'one that starts again finds it open');
  await forwards.open({ ...wanted, protocol: 'udp' });
  const open = parseForwards(await monitor('', 'info usernet'));
  assert.deepEqual(open.map(({ protocol, address, guestPort }) => `${protocol} ${address} ${guestPort}`).sort(), [
    `tcp ${ADDRESS} 20080`,
    `udp ${ADDRESS} 20080`,
  ]);

  const taken = createServer().listen(20_081, ADDRESS);
  t.after(() => taken.close());
  await once(taken, 'listening');
  const elsewhere = await forwards.open({ ...wanted, port: 20_081 });
  assert.ok(elsewhere > 0 && elsewhere !== 20_081, 'a port that is taken is opened at another one');

  const passing = await forwards.passingWay({ ...wanted, port: 20_082 });
  const other = await forwards.passingWay({ ...wanted, port: 20_082 });
  assert.ok(passing.port !== 20_082 && other.port !== passing.port, 'a way for one connection does not make the port look open');
  assert.equal((await forwards.passingWay(wanted)).port, 20_080, 'and is the port itself where that is open');
  const uses = async (each: Forwards) =>
    (await each.list(wanted)).flatMap(({ protocol, use, hostPort }) => (protocol === 'tcp' ? `${hostPort} ${use}` : [])).sort();
  assert.deepEqual(
    await uses(forwards),
    ['20080 lasting', `${elsewhere} lasting`, `${passing.port} passing`, `${other.port} passing`].sort(),
  );
  const left = `${other.port} stray`;
  assert.ok((await uses(new Forwards(monitor))).includes(left), 'one that starts again does not know what it was for');
  await Promise.all([passing.release(), other.release()]);
  await forwards.close({ ...wanted, hostPort: 20_080 });
  assert.deepEqual(await uses(forwards), [`${elsewhere} lasting`]);
});

test('a refusal of QEMU is told', async () => {
  const forwards = new Forwards(async (_key, line) => (line === 'info usernet' ? '' : "Could not set up host forwarding rule 'tcp'\r\n"));
  await assert.rejects(
    forwards.open({ key: 'default/db', address: ADDRESS, protocol: 'tcp', port: 80 }),
    /does not open port 80 .*Could not set up/,
  );
});

test('a port that QEMU may not listen on is opened at another one', async () => {
  const lines: string[] = [];
  const forwards = new Forwards(async (_key, line) => {
    lines.push(line);
    if (line.includes(':80-')) return 'Could not set up host forwarding rule';
    const isOpen = lines.some((each) => each.includes(':0-:80'));
    return line === 'info usernet' && isOpen ? `  TCP[HOST_FORWARD]  12  ${ADDRESS} 40123       10.0.2.2    80     0     0\r\n` : '';
  });
  assert.equal(await forwards.open({ key: 'default/db', address: ADDRESS, protocol: 'tcp', port: 80 }), 40_123);
});
