/** What the agent in a guest tells, as JSON. */
import type { ClusterDeps } from '../deps.ts';
import { machineName } from '../machine-target.ts';

type Asked = { readonly verb: string; readonly subresource: string; readonly words: readonly string[] };

/** Asks, and prints the answer as it is. */
export async function showGuestInfo({ client, namespace, stdout }: ClusterDeps, { verb, subresource, words }: Asked): Promise<void> {
  const name = machineName(verb, words);
  const at = `namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${subresource}`;
  const response = await client.request(`/apis/subresources.kubevirt.io/v1/${at}`);
  stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
}
