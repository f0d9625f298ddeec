/** Whether the cluster that is talked to is the embedded one of this data folder: only that one finds what is in the store here. */
import type { Connection, Deps } from '../deps.ts';
import { runningState } from '../embedded/state.ts';

export async function isOwnEmbedded(
  { home }: Pick<Deps, 'home'>,
  { client, server }: Pick<Connection, 'client' | 'server'>,
): Promise<boolean> {
  const state = runningState(home);
  if (state === undefined || new URL(server).port !== String(state.port)) return false;
  const { gitCommit } = (await (await client.request('/version')).json()) as { gitCommit?: string };
  return gitCommit === 'kubevirt-ts';
}
