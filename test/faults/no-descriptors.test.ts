import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import { ask } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { until } from '../../src/testing/until.ts';

/** Enough to start with. */
const DESCRIPTORS = 80;
const STRANGERS = 200;
const MAPS = '/api/v1/namespaces/default/configmaps';

test('an API server without a file descriptor left goes on with the connections it has, and takes new ones when there is room', {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'no-descriptors-'));
  const { ca, admin } = await ensurePki(join(folder, 'pki'), systemClock);
  const program = join(import.meta.dirname, 'store-kills/server-process.ts');
  const limited = `ulimit -n ${DESCRIPTORS}; exec "$0" --disable-warning=ExperimentalWarning "$1" "$2" 1000`;
  const child = spawn('sh', ['-c', limited, process.execPath, program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended; // it writes into the folder until then
    rmSync(folder, { recursive: true, force: true });
  });
  const [line] = await once(child.stdout, 'data');
  const port = Number(line);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const create = (name: string, by: Agent | false) =>
    ask({ port, ca, ...admin, agent: by, method: 'POST', path: MAPS, body: JSON.stringify({ metadata: { name } }) });
  assert.equal((await create('before', agent)).status, 201);

  const strangers: Socket[] = [];
  t.after(() => strangers.forEach((socket) => socket.destroy()));
  for (let n = 0; n < STRANGERS; n += 1) {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {}); // the kernel, or the server, may turn it away
    strangers.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
  for (let n = 0; n < 20; n += 1) assert.equal((await create(`during-${n}`, agent)).status, 201);
  assert.equal(child.exitCode, null, 'it lives');

  for (const socket of strangers) socket.destroy();
  const isServed = () =>
    ask({ port, ca, ...admin, path: '/readyz' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(isServed, 'room for a new connection'); // it has to notice first that they are gone
  assert.equal((await create('after', false)).status, 201);
  const { body } = await ask({ port, ca, ...admin, path: MAPS });
  assert.equal(
    JSON.parse(body).items.filter(({ metadata }: { metadata: { name: string } }) => /^(before|during|after)/.test(metadata.name)).length,
    22,
  );
});
