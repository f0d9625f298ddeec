/** What running machines use of their nodes: two measurements, and the difference. */

import type { Usage } from '../../../api/handler/answers.ts';
import { HISTORY_SECONDS, USUAL_HISTORY_SECONDS, type UsageHistory } from '../../../api/handler/usage-history.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { parseGoDuration } from '../../../base/go-duration.ts';
import type { ClusterDeps, Connection, ConnectionFlags } from '../../deps.ts';
import { mustExist } from '../../namespace-exists.ts';
import { renderTable } from '../../table.ts';
import { historyRows } from '../../top/history-rows.ts';
import { usageRows } from '../../top/rows.ts';
import { vmName } from '../../vm-target.ts';

/** Long enough for a rate, short enough to wait for. */
const BETWEEN_MS = 2000;

export async function run(
  deps: ClusterDeps,
  flags: ConnectionFlags & { readonly allNamespaces: boolean; readonly history: boolean; readonly since?: string },
  ...words: string[]
): Promise<void> {
  const { client, namespace, clock, stdout, stderr } = deps;
  const seconds = historySeconds(flags);
  const name = words.length > 0 ? vmName('top', words) : undefined;
  const { items } = await client.list(VMIS, flags.allNamespaces ? {} : { namespace });
  const vmis = items.filter(({ metadata, status }) => status?.phase === 'Running' && (name === undefined || metadata.name === name));
  if (name !== undefined && vmis.length === 0)
    throw new ApiError('NotFound', `there is no running machine "${name}" in namespace ${namespace}`);
  if (items.length === 0 && !flags.allNamespaces) await mustExist(deps);
  if (vmis.length === 0) return void stderr.write('no machine is running\n');
  const problems = new Set<string>();
  if (seconds !== undefined) {
    const asked = { subresource: 'usagehistory', query: `?seconds=${seconds}` } as const;
    const histories = await Promise.all(
      vmis.map(({ metadata }) => measured<UsageHistory>(deps, metadata, { ...asked, onProblem: (why) => problems.add(why) })),
    );
    const remembered = vmis.map((vmi, index) => ({ vmi, history: histories[index] }));
    stdout.write(renderTable(historyRows(remembered, { isAcross: flags.allNamespaces, nowMs: clock.now(), seconds })));
    for (const problem of problems) stderr.write(`note: ${problem}\n`);
    return;
  }
  const asked = { subresource: 'usage', query: '', onProblem: (why: string) => problems.add(why) } as const;
  const measure = () => Promise.all(vmis.map(({ metadata }) => measured<Usage>(deps, metadata, asked)));
  const first = await measure();
  if (problems.size < vmis.length) await clock.sleep(BETWEEN_MS);
  const second = await measure();
  const usages = vmis.map((vmi, index) => ({ vmi, first: first[index], second: second[index] }));
  stdout.write(renderTable(usageRows(usages, flags.allNamespaces)));
  for (const problem of problems) stderr.write(`note: ${problem}\n`);
}

type Named = { readonly namespace?: string; readonly name: string };

type Asked = {
  readonly subresource: 'usage' | 'usagehistory';
  readonly query: string;
  readonly onProblem: (why: string) => void;
};

/** Undefined when a guest cannot be measured; the others still are. What nobody may see is an error for all. */
async function measured<Answer>(
  { client }: Connection,
  { namespace = '', name }: Named,
  { subresource, query, onProblem }: Asked,
): Promise<Answer | undefined> {
  const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, subresource);
  try {
    return (await (await client.request(`${path}${query}`)).json()) as Answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'Forbidden' || error.reason === 'Unauthorized') throw error;
    onProblem(error.message);
    return undefined;
  }
}

/** Undefined when no history is asked for. */
function historySeconds({ history, since }: { readonly history: boolean; readonly since?: string }): number | undefined {
  if (since === undefined) return history ? USUAL_HISTORY_SECONDS : undefined;
  const seconds = Math.round((parseGoDuration(since) ?? 0) / 1000);
  if (seconds > 0 && seconds <= HISTORY_SECONDS) return seconds;
  throw new UserError('USAGE', `--since ${since} is no time that is remembered`, {
    fix: 'a duration from 1s to 10h, such as 90m',
    exitCode: 2,
  });
}
