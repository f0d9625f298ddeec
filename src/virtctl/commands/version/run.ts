/** The versions of this program and of the server it talks to. */
import type { ConnectionFlags, Deps } from '../../deps.ts';

export async function run({ stdout, version, connect }: Deps, flags: ConnectionFlags & { client: boolean }): Promise<void> {
  stdout.write(`Client Version: ${version}\n`);
  if (flags.client) return;
  const { client } = await connect(flags);
  const response = await client.request('/apis/subresources.kubevirt.io/v1/version');
  const server = (await response.json()) as { gitVersion: string };
  stdout.write(`Server Version: ${server.gitVersion}\n`);
}
