/** What running machines use of their nodes: two measurements, and the difference. */

import type { Usage } from '../../../api/handler/answers.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError } from '../../../base/errors.ts';
import type { ClusterDeps, Connection, ConnectionFlags } from '../../deps.ts';
import { mustExist } from '../../namespace-exists.ts';
import { renderTable } from '../../table.ts';
import { usageRows } from '../../top/rows.ts';
import { vmName } from '../../vm-target.ts';

/** Long enough for a rate, short enough to wait for. */
const BETWEEN_MS = 2000;

export async function run(
  deps: ClusterDeps,
  flags: ConnectionFlags & { readonly allNamespaces: boolean },
  ...words: string[]
): Promise<void> {
  const { client, namespace, clock, stdout, stderr } = deps;
  const name = words.length > 0 ? vmName('top', words) : undefined;
  const { items } = await client.list(VMIS, flags.allNamespaces ? {} : { namespace });
  const vmis = items.filter(({ metadata, status }) => status?.phase === 'Running' && (name === undefined || metadata.name === name));
  if (name !== undefined && vmis.length === 0)
    throw new ApiError('NotFound', `there is no running machine "${name}" in namespace ${namespace}`);
  if (items.length === 0 && !flags.allNamespaces) await mustExist(deps);
  if (vmis.length === 0) return void stderr.write('no machine is running\n');
  const problems = new Set<string>();
  const measure = () => Promise.all(vmis.map(({ metadata }) => usageOf(deps, metadata, (why) => problems.add(why))));
  const first = await measure();
  if (problems.size < vmis.length) await clock.sleep(BETWEEN_MS);
  const second = await measure();
  const measured = vmis.map((vmi, index) => ({ vmi, first: first[index], second: second[index] }));
  stdout.write(renderTable(usageRows(measured, flags.allNamespaces)));
  for (const problem of problems) stderr.write(`note: ${problem}\n`);
}

type Named = { readonly namespace?: string; readonly name: string };

/** Undefined when a guest cannot be measured; the others still are. What nobody may see is an error for all. */
async function usageOf(
  { client }: Connection,
  { namespace = '', name }: Named,
  onProblem: (why: string) => void,
): Promise<Usage | undefined> {
  const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'usage');
  try {
    return (await (await client.request(path)).json()) as Usage;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'Forbidden' || error.reason === 'Unauthorized') throw error;
    onProblem(error.message);
    return undefined;
  }
}
