/** Whether an ssh server answers in a guest: it speaks first, so its first bytes are enough. */
import type { Duplex } from 'node:stream';
import { portForwardPath } from '../../api/kubevirt/subresource-path.ts';
import type { Clock } from '../../base/clock.ts';
import { isApiError, messageOf } from '../../base/errors.ts';
import type { Connection } from '../deps.ts';
import type { SshState } from './decide.ts';

export type SshQuestion = {
  readonly connection: Pick<Connection, 'openStream'>;
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly clock: Clock;
};

const GREETING = 'SSH-';
const GREETING_WITHIN_MS = 5_000;

/** Asks once. */
export async function probeSsh({ connection, namespace, name, port, clock }: SshQuestion): Promise<SshState> {
  let stream: Duplex;
  try {
    stream = await connection.openStream(portForwardPath({ resource: 'virtualmachineinstances', namespace, name }, port, 'tcp'));
  } catch (error) {
    if (isApiError(error, 'Forbidden') || isApiError(error, 'Unauthorized')) return { is: 'out', why: messageOf(error) };
    return { is: 'closed', why: whyNot(messageOf(error), port) };
  }
  try {
    const said = await firstBytes(stream, clock);
    if (said === GREETING) return { is: 'open' };
    return { is: 'closed', why: said === '' ? `its port ${port} does not answer` : `what answers at its port ${port} is no ssh server` };
  } finally {
    stream.destroy();
  }
}

/** What virt-handler says of the guest, in fewer words. */
function whyNot(message: string, port: number): string {
  if (/refused the connection/.test(message)) return `nothing listens at its port ${port}`;
  return /the guest does not answer/.test(message) ? `its port ${port} does not answer` : message;
}

/** As many as the greeting has, or fewer when it ends or does not come. */
function firstBytes(stream: Duplex, clock: Clock): Promise<string> {
  const over = new AbortController();
  return new Promise<string>((resolve) => {
    let said = '';
    const done = () => resolve(said.slice(0, GREETING.length));
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1', 0, GREETING.length);
      if (said.length >= GREETING.length) done();
    });
    stream.on('end', done).on('close', done).on('error', done);
    void clock.sleep(GREETING_WITHIN_MS, over.signal).then(done);
  }).finally(() => over.abort());
}
