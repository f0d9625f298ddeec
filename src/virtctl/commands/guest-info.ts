/** guestosinfo, userlist and fslist: what the agent in a guest tells, as JSON. */
import { type ConnectionFlags, connect, machineName } from '../connect.ts';
import type { Context } from '../context.ts';

export function guestosinfo(this: Context, flags: ConnectionFlags, ...words: string[]): Promise<void> {
  return show(this, { verb: 'guestosinfo', subresource: 'guestosinfo', flags, words });
}

export function userlist(this: Context, flags: ConnectionFlags, ...words: string[]): Promise<void> {
  return show(this, { verb: 'userlist', subresource: 'userlist', flags, words });
}

export function fslist(this: Context, flags: ConnectionFlags, ...words: string[]): Promise<void> {
  return show(this, { verb: 'fslist', subresource: 'filesystemlist', flags, words });
}

type Asked = { readonly verb: string; readonly subresource: string; readonly flags: ConnectionFlags; readonly words: readonly string[] };

async function show(context: Context, { verb, subresource, flags, words }: Asked): Promise<void> {
  const name = machineName(verb, words);
  const { client, namespace } = connect(context, flags);
  const at = `namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${subresource}`;
  const response = await client.request(`/apis/subresources.kubevirt.io/v1/${at}`);
  context.process.stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
}
