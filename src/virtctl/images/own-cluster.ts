/** Whether the cluster that is talked to is the embedded one of this data folder: only that one finds what is in the store here. */
import type { Connection, Deps } from '../deps.ts';
import { runningState } from '../embedded/state.ts';

export async function isOwnEmbedded(
  { home }: Pick<Deps, 'home'>,
  { client, server }: Pick<Connection, 'client' | 'server'>,
): Promise<boolean> {
  const { gitCommit } = (await (await client.request('/version')).json()) as { gitCommit?: string };
  const state = runningState(home);
  return gitCommit === 'kubevirt-ts' && state !== undefined && new URL(server).port === String(state.port);
}
