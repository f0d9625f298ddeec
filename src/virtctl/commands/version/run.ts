/** The versions of this program and of the server it talks to; of a release also which one. */
import { readFileSync } from 'node:fs';
import { subresourceGroupPath } from '../../../api/kubevirt/subresource-path.ts';
import type { ConnectionFlags, Deps } from '../../deps.ts';

export async function run({ stdout, version, releaseFile, connect }: Deps, flags: ConnectionFlags & { client: boolean }): Promise<void> {
  stdout.write(`Client Version: ${version}\n`);
  if (releaseFile !== undefined) stdout.write(`Client Release: ${describeRelease(releaseFile)}\n`);
  if (flags.client) return;
  const { client } = await connect(flags);
  const response = await client.request(subresourceGroupPath('version'));
  const server = (await response.json()) as { gitVersion: string };
  stdout.write(`Server Version: ${server.gitVersion}\n`);
}

/** Written by tools/release/stage-package.ts. */
function describeRelease(file: string): string {
  const { form, commit } = JSON.parse(readFileSync(file, 'utf8')) as { form: string; commit: string };
  return `${form}, commit ${commit.slice(0, 12)}`;
}
