/** What the agent in a guest tells, as JSON. */
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import type { ClusterDeps } from '../deps.ts';
import { vmName } from '../vm-target.ts';

type Asked = {
  readonly verb: string;
  readonly subresource: 'guestosinfo' | 'userlist' | 'filesystemlist';
  readonly words: readonly string[];
};

/** Asks, and prints the answer as it is. */
export async function showGuestInfo({ client, namespace, stdout }: ClusterDeps, { verb, subresource, words }: Asked): Promise<void> {
  const name = vmName(verb, words);
  const response = await client.request(subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, subresource));
  stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
}
