/** Shows a machine with everything filled in that its author left open. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { UserError } from '../../base/errors.ts';
import { type ConnectionFlags, connect } from '../connect.ts';
import type { Context } from '../context.ts';

type ExpandFlags = ConnectionFlags & { readonly vm?: string; readonly file?: string; readonly output: 'yaml' | 'json' };

export async function expand(this: Context, flags: ExpandFlags): Promise<void> {
  const { vm, file, output } = flags;
  if ((vm === undefined) === (file === undefined)) {
    throw new UserError('USAGE', 'virtctl expand takes either --vm or --file', {
      fix: 'virtctl expand --vm my-vm, or virtctl expand -f my-vm.yaml',
      exitCode: 2,
    });
  }
  const { client, namespace } = connect(this, flags);
  const base = `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}`;
  const response =
    vm !== undefined
      ? await client.request(`${base}/virtualmachines/${encodeURIComponent(vm)}/expand-spec`)
      : await client.request(`${base}/expand-vm-spec`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(parse(readFileSync(file === '-' ? 0 : (file ?? ''), 'utf8'))),
        });
  const expanded = await response.json();
  this.process.stdout.write(output === 'json' ? `${JSON.stringify(expanded, null, 2)}\n` : stringify(expanded, { lineWidth: 0 }));
}
