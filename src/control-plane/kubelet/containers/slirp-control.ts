/** slirp4netns is told over a socket which ports of a Pod to open at its address: one question and one answer per connection. */
import { closeSync, constants, openSync } from 'node:fs';
import { connect } from 'node:net';
import { ApiError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';

export type Forward = { readonly protocol: 'tcp' | 'udp'; readonly port: number };

const SOCKET = 'slirp.sock';
/** The address that slirp4netns gives to whoever it serves. */
const SLIRP_GUEST = '10.0.2.100';
const PATIENCE_MS = 2_000;
const MAX_ANSWER_BYTES = 2 ** 20;

/** The name of the socket in the folder of the Pod; slirp4netns is started there, as the whole path may be too long for a socket. */
export const SLIRP_SOCKET = SOCKET;

/** What the Pod is called inside: as outside, but where that is an address of the loopback, which leads nowhere else. */
export function addressInside(podIP: string): string {
  return podIP.startsWith('127.') ? SLIRP_GUEST : podIP;
}

/** Opens a port at the address of the Pod. */
export async function addForward(dir: string, podIP: string, { protocol, port }: Forward): Promise<void> {
  await ask(dir, {
    execute: 'add_hostfwd',
    arguments: { proto: protocol, host_addr: podIP, host_port: port, guest_addr: addressInside(podIP), guest_port: port },
  });
}

/** Closes a port again. */
export async function removeForward(dir: string, id: number): Promise<void> {
  await ask(dir, { execute: 'remove_hostfwd', arguments: { id } });
}

/** Every port that is open, by the number that slirp4netns has given it. */
export async function listForwards(dir: string): Promise<ReadonlyMap<number, Forward>> {
  const { entries } = await ask(dir, { execute: 'list_hostfwd' });
  const found = new Map<number, Forward>();
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (!isObject(entry)) continue;
    const { id, proto, host_port: port } = entry;
    if (typeof id === 'number' && (proto === 'tcp' || proto === 'udp') && typeof port === 'number')
      found.set(id, { protocol: proto, port });
  }
  return found;
}

async function ask(dir: string, request: object): Promise<Readonly<Record<string, unknown>>> {
  const folder = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const text = await exchange(`/proc/self/fd/${folder}/${SOCKET}`, JSON.stringify(request));
    const answer: unknown = JSON.parse(text);
    const { error, return: result } = isObject(answer) ? answer : {};
    if (error !== undefined) throw new ApiError('Conflict', `slirp4netns: ${isObject(error) ? error['desc'] : JSON.stringify(error)}`);
    return isObject(result) ? result : {};
  } finally {
    closeSync(folder);
  }
}

function exchange(path: string, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(path);
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('slirp4netns does not answer')));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      said += chunk;
      if (said.length > MAX_ANSWER_BYTES) socket.destroy(new Error('slirp4netns says too much'));
    });
    socket.once('end', () => resolve(said));
    socket.once('error', reject);
    socket.end(request);
  });
}
