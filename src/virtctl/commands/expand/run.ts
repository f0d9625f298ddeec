/** Shows a machine with everything filled in that its author left open. */

import { parse, stringify } from 'yaml';
import { expandVmSpecPath, subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { messageOf, UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { readInput } from '../../read-input.ts';

type ExpandFlags = ConnectionFlags & { readonly vm?: string; readonly file?: string; readonly output: 'yaml' | 'json' };

export async function run({ client, namespace, stdout }: ClusterDeps, flags: ExpandFlags): Promise<void> {
  const { vm, file, output } = flags;
  if ((vm === undefined) === (file === undefined)) {
    throw new UserError('USAGE', 'virtctl expand takes either --vm or --file', {
      fix: 'virtctl expand --vm my-vm, or virtctl expand -f my-vm.yaml',
      exitCode: 2,
    });
  }
  const manifest = file === undefined ? undefined : JSON.stringify(parsed(file));
  const response =
    vm !== undefined
      ? await client.request(subresourcePath({ resource: 'virtualmachines', namespace, name: vm }, 'expand-spec'))
      : await client.request(expandVmSpecPath(namespace), {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: manifest,
        });
  const expanded = await response.json();
  stdout.write(output === 'json' ? `${JSON.stringify(expanded, null, 2)}\n` : stringify(expanded, { lineWidth: 0 }));
}

function parsed(file: string): unknown {
  try {
    return parse(readInput(file).toString('utf8'));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('MANIFEST_INVALID', `${file} is not YAML`, { why: messageOf(error).split('\n')[0], exitCode: 2, cause: error });
  }
}
