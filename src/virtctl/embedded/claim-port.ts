/**
 * A port of the loopback that nobody else starts to use while a program that says nothing about busy ports is being started on it.
 * Clusters that start at the same moment agree through a name that only one of them can listen on; the name is gone with its process.
 */
import { createServer, type Server } from 'node:net';

export type ClaimedPort = { readonly port: number /** To be called once the port is in use, or not needed any more. */; release(): void };

const MORE_PORTS = 100;
export const LAST_PORT = 65_535;

/** The first port from `first` on that is neither in use nor claimed. */
export async function claimPort(first: number): Promise<ClaimedPort> {
  const last = Math.min(first + MORE_PORTS, LAST_PORT);
  for (let port = first; port <= last; port++) {
    const claim = await listen({ path: `\0kubevirt-ts/port/${port}` });
    if (!claim) continue;
    const probe = await listen({ port, host: '127.0.0.1' });
    if (!probe) claim.close();
    else {
      await new Promise((resolve) => probe.close(resolve));
      return { port, release: () => claim.close() };
    }
  }
  throw new Error(`the ports ${first} to ${last} are busy`);
}

function listen(where: { path: string } | { port: number; host: string }): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}
