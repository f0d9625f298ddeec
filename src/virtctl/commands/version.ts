/** The versions of this program and of the server it talks to. */
import type { ConnectionFlags } from '../connect.ts';
import type { Context } from '../context.ts';

export async function version(this: Context, flags: ConnectionFlags & { client: boolean }): Promise<void> {
  this.process.stdout.write(`Client Version: ${this.version}\n`);
  if (flags.client) return;
  const { connect } = await import('../connect.ts'); // loads everything that speaks TLS
  const { client } = connect(this, flags);
  const response = await client.request('/apis/subresources.kubevirt.io/v1/version');
  const server = (await response.json()) as { gitVersion: string };
  this.process.stdout.write(`Server Version: ${server.gitVersion}\n`);
}
