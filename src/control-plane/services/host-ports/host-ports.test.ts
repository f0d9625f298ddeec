import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { until } from '../../../testing/until.ts';
import { TargetChoice } from '../target-choice.ts';
import { openTcpListener } from '../tcp-listener.ts';
import { openUdpListener } from '../udp-listener.ts';
import { HostPorts } from './host-ports.ts';
import { runHostPorts } from './run-host-ports.ts';

const PORT = 28_917;

async function serving(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

async function said(port: number, words: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(words);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('a NodePort is served at the loopback of the host: TCP and UDP, only while it is wanted, past ports that are taken', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'host-ports-'));
  const stop = new AbortController();
  const path = join(folder, 'host-ports.sock');
  const hosts: Promise<void>[] = [];
  const options = { path, clock: systemClock, log: silentLogger, signal: stop.signal };
  const ports = new HostPorts({ ...options, callHost: () => void hosts.push(runHostPorts(path)) });

  const shouting = createServer({ allowHalfOpen: true }, async (socket) => {
    let text = '';
    for await (const chunk of socket) text += chunk;
    socket.end(text.toUpperCase());
  });
  const echo = createSocket('udp4');
  echo.on('message', (datagram, { port, address }) => echo.send(`${datagram}!`, port, address));
  echo.bind(0, '127.0.0.1');
  await once(echo, 'listening');
  const targets = { TCP: await serving(shouting), UDP: echo.address().port };
  const open = (['TCP', 'UDP'] as const).map((protocol) => {
    const choice = new TargetChoice(systemClock);
    choice.set({ targets: [{ host: '127.0.0.1', port: targets[protocol] }] });
    const opening = { host: '127.0.0.9', port: PORT, choice, clock: systemClock, onError: assert.fail, onListening: () => {} };
    return protocol === 'TCP' ? openTcpListener(opening) : openUdpListener(opening);
  });
  ports.onEntered(({ key, client, socket }) => open[key === 'tcp' ? 0 : 1]?.take(socket, client));
  const taken = createServer();
  taken.listen(PORT, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => {
    for (const server of [shouting, taken]) server.close();
    for (const listener of open) listener.destroy();
    echo.close();
    rmSync(folder, { recursive: true });
  });

  ports.want([]);
  assert.equal(hosts.length, 0, 'nobody is called before something is wanted');
  ports.want([
    { key: 'tcp', protocol: 'TCP', ports: [PORT, PORT + 1] },
    { key: 'udp', protocol: 'UDP', ports: [PORT] },
    { key: 'none', protocol: 'TCP', ports: [PORT] },
  ]);
  await until(() => ['tcp', 'udp', 'none'].every((key) => ports.stateOf(key)), 'an answer for each');
  assert.deepEqual(
    ['tcp', 'udp', 'none'].map((key) => ports.stateOf(key)),
    [
      { key: 'tcp', port: PORT + 1 },
      { key: 'udp', port: PORT },
      { key: 'none', why: 'EADDRINUSE' },
    ],
  );
  const long = 'word '.repeat(100_000);
  assert.equal(await said(PORT + 1, long), long.toUpperCase());
  const client = createSocket('udp4');
  for (const word of ['one', 'two']) {
    client.send(word, PORT, '127.0.0.1');
    assert.equal(String((await once(client, 'message'))[0]), `${word}!`);
  }
  client.close();

  ports.want([{ key: 'udp', protocol: 'UDP', ports: [PORT] }]);
  await until(
    () =>
      said(PORT + 1, 'anybody?').then(
        () => false,
        ({ code }) => code === 'ECONNREFUSED',
      ),
    'nobody to listen at the port that is not wanted any more',
  );

  const chosen = { key: 'tcp', protocol: 'TCP', ports: [PORT + 2, PORT + 1], chosen: PORT + 2 } as const;
  for (const each of [{ ...chosen, ports: [PORT + 1], chosen: undefined }, chosen]) {
    ports.want([each]);
    await until(() => ports.stateOf('tcp')?.port === each.ports[0], 'the port that was asked for');
  }
  assert.equal(await said(PORT + 2, 'moved'), 'MOVED', 'a port that is chosen later takes the place of the other');
  stop.abort();
  await Promise.all(hosts); // gone with the cluster
});
