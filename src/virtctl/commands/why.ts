/** The first thing that keeps a machine from running, how we know, and what to do. */
import { systemClock } from '../../base/clock.ts';
import { type ConnectionFlags, connect, machineName } from '../connect.ts';
import type { Context } from '../context.ts';
import { decideWhy } from '../why/decide.ts';
import { observeMachine } from '../why/observe.ts';

export async function why(this: Context, flags: ConnectionFlags & { json: boolean }, ...words: string[]): Promise<void> {
  const name = machineName('why', words);
  const { client, namespace } = connect(this, flags);
  const answer = decideWhy(await observeMachine({ client, namespace, name, clock: systemClock }));
  const lines = [
    answer.what,
    ...answer.evidence.map((line) => `  seen: ${line}`),
    ...(answer.fix ? [`  ${answer.isBlocked ? 'fix' : 'next'}:  ${answer.fix}`] : []),
  ];
  this.process.stdout.write(`${flags.json ? JSON.stringify(answer, null, 2) : lines.join('\n')}\n`);
}
