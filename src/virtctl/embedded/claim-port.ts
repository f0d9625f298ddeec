/**
 * A port of the loopback that nobody else starts to use while a program that says nothing about busy ports is being started on it.
 * Clusters that start at the same moment agree through a name that only one of them can listen on; the name is gone with its process.
 */
import { createServer, type Server } from 'node:net';

export type ClaimedPort = { readonly port: number /** To be called once the port is in use, or not needed any more. */; release(): void };
export type HeldPort = { readonly port: number; readonly listener: Server };

const MORE_PORTS = 100;
export const LAST_PORT = 65_535;

/** The first port from `first` on that is neither in use nor claimed. */
export async function claimPort(first: number): Promise<ClaimedPort> {
  const { port, claim, listener } = await firstFree(first);
  await new Promise((resolve) => listener.close(resolve));
  return { port, release: () => claim.close() };
}

/** Listens there; who connects before somebody else takes over is turned away. */
export async function holdPort(first: number): Promise<HeldPort> {
  const { port, claim, listener } = await firstFree(first);
  claim.close();
  return { port, listener };
}

async function firstFree(first: number): Promise<HeldPort & { readonly claim: Server }> {
  const last = Math.min(first + MORE_PORTS, LAST_PORT);
  for (let port = first; port <= last; port++) {
    const claim = await listen({ path: `\0kubevirt-ts/port/${port}` });
    if (!claim) continue;
    const listener = await listen({ port, host: '127.0.0.1' });
    if (listener) return { port, claim, listener };
    claim.close();
  }
  throw new Error(`the ports ${first} to ${last} are busy`);
}

function listen(where: { path: string } | { port: number; host: string }): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}
