/** The versions of this program and of the server it talks to. */
import { subresourceGroupPath } from '../../../api/kubevirt/subresource-path.ts';
import type { ConnectionFlags, Deps } from '../../deps.ts';

export async function run({ stdout, version, connect }: Deps, flags: ConnectionFlags & { client: boolean }): Promise<void> {
  stdout.write(`Client Version: ${version}\n`);
  if (flags.client) return;
  const { client } = await connect(flags);
  const response = await client.request(subresourceGroupPath('version'));
  const server = (await response.json()) as { gitVersion: string };
  stdout.write(`Server Version: ${server.gitVersion}\n`);
}
