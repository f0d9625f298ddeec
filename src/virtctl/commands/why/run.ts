/** The first thing that keeps a machine from running, how we know, and what to do. */
import { escapeToOneLine } from '../../../base/escape-unprintable.ts';
import { decideWhy } from '../../../sdk/why/decide.ts';
import { observeWhy } from '../../../sdk/why/observe.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { vmName } from '../../vm-target.ts';

export async function run(
  { client, namespace, clock, stdout }: ClusterDeps,
  flags: ConnectionFlags & { json: boolean },
  ...words: string[]
): Promise<void> {
  const name = vmName('why', words);
  const answer = decideWhy(await observeWhy({ client, namespace, name, clock }));
  const lines = [
    answer.what,
    ...answer.evidence.map((line) => `  seen: ${line}`),
    ...(answer.fix ? [`  ${answer.isBlocked ? 'fix' : 'next'}:  ${answer.fix}`] : []),
  ];
  stdout.write(`${flags.json ? JSON.stringify(answer, null, 2) : lines.map(escapeToOneLine).join('\n')}\n`);
}
