/** An agent that says what a test wants it to say, on a socket where QEMU would have put the channel of a guest. */
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { AGENT_SOCKET } from '../../api/launcher/files.ts';
import { isObject } from '../../base/json.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';

/** What to say to a command: a value to return, bytes to send as they are, or nothing at all. */
export type Say = { readonly return: unknown } | { readonly error: string } | { readonly bytes: Buffer | string } | undefined;
export type FakeAgent = { readonly folder: string; readonly asked: string[]; readonly connections: Set<Socket> };

/** What a well-behaved one says of itself. */
export const WELL_BEHAVED: Readonly<Record<string, unknown>> = {
  'guest-info': {
    version: '7.2.22',
    supported_commands: [
      ...['guest-info', 'guest-ping', 'guest-get-osinfo', 'guest-get-host-name', 'guest-network-get-interfaces', 'guest-get-fsinfo'],
    ].map((name) => ({ name, enabled: true })),
  },
  'guest-get-osinfo': { id: 'debian', name: 'Debian GNU/Linux', 'kernel-release': '6.1.0', 'pretty-name': 'Debian 12' },
  'guest-network-get-interfaces': [
    { name: 'lo', 'hardware-address': '00:00:00:00:00:00', 'ip-addresses': [{ 'ip-address': '127.0.0.1' }] },
    { name: 'eth0', 'hardware-address': '52:54:00:12:34:56', 'ip-addresses': [{ 'ip-address': '10.0.2.2' }, { 'ip-address': 'fe80::1' }] },
  ],
  'guest-fsfreeze-status': 'thawed',
};

/** Listens on agent.sock in a folder of its own until the test ends. */
export async function startFakeAgent(t: TestContext, answer: (command: string, args: object) => Say = wellBehaved): Promise<FakeAgent> {
  const folder = await temporaryFolder(t);
  const asked: string[] = [];
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      // As the real one: a delimiter outside a question is a mistake, and it says so.
      if (chunk.includes(0xff)) socket.write('{"error":{"class":"GenericError","desc":"JSON parse error"}}\n');
      const lines = (text + chunk.toString('latin1').replaceAll('\xff', '')).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) say(socket, line);
    });
  });
  const say = (socket: Socket, line: string) => {
    const { execute, arguments: args } = JSON.parse(line);
    const given = isObject(args) ? args : {};
    if (execute !== 'guest-sync-delimited') asked.push(execute);
    const said = answer(execute, given) ?? (execute === 'guest-sync-delimited' ? { bytes: synced(given) } : undefined);
    if (!said) return;
    if ('bytes' in said) socket.write(said.bytes);
    else if ('error' in said) socket.write(`${JSON.stringify({ error: { class: 'GenericError', desc: said.error } })}\n`);
    else socket.write(`${JSON.stringify({ return: said.return })}\n`);
  };
  await new Promise<void>((resolve) => server.listen(join(folder, AGENT_SOCKET), resolve));
  t.after(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  return { folder, asked, connections };
}

/** The answer of an agent that behaves; of a command it does not know it says so. */
export function wellBehaved(command: string): Say {
  if (command === 'guest-sync-delimited') return undefined;
  return command in WELL_BEHAVED ? { return: WELL_BEHAVED[command] } : { error: `The command ${command} has not been found` };
}

function synced(args: object): Buffer {
  return Buffer.concat([Buffer.of(0xff), Buffer.from(`${JSON.stringify({ return: 'id' in args ? args.id : 0 })}\n`)]);
}
