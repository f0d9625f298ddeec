/** A program in a container, on this terminal: the streams of Kubernetes' exec over one WebSocket. */
import { ApiError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { Cluster } from '../../client/node/kubeconfig.ts';
import { openWebSocket } from '../../client/node/websocket.ts';
import type { PodShell, PodShellTarget } from '../deps.ts';

/** The newer one first: in the older one nobody can say that no more input comes. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Resolves when the program runs. */
export async function openPodShell(cluster: Cluster, target: PodShellTarget): Promise<PodShell> {
  const { namespace, name, container, command, isTerminal } = target;
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: String(!isTerminal), tty: String(isTerminal) });
  for (const word of command) query.append('command', word);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/exec?${query}`;
  const socket = await openWebSocket({ cluster, path, protocols: PROTOCOLS });
  const send = (channel: number, bytes: Uint8Array) => socket.send(Buffer.concat([Buffer.from([channel]), bytes]));
  const ended: Ended = {};
  return {
    output: outputOf(socket, ended),
    exitCode: () => ended.code,
    write: (bytes) => send(CHANNEL.stdin, bytes),
    end: () => (socket.protocol === PROTOCOLS[0] ? send(CHANNEL.close, Buffer.from([CHANNEL.stdin])) : socket.close()),
    resize: ({ columns, rows }) => send(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
  };
}

type Ended = { code?: number | undefined };

/** What the program prints, until it ends; throws why it could not be run. */
async function* outputOf(socket: Awaited<ReturnType<typeof openWebSocket>>, ended: Ended): AsyncIterable<Buffer> {
  const queue: Buffer[] = [];
  let isClosed = false;
  let wake = () => {};
  socket.on('message', (data) => {
    queue.push(Buffer.isBuffer(data) ? data : Buffer.from(data as ArrayBuffer));
    wake();
  });
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  for (;;) {
    const message = queue.shift();
    if (message) {
      if (message[0] === CHANNEL.error) ended.code = exitCodeIn(message.subarray(1));
      else if (message.length > 1) yield message.subarray(1);
    } else if (isClosed) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

/** Success, a code, or why there is none: the program was not run. */
export function exitCodeIn(bytes: Buffer): number | undefined {
  const status: unknown = JSON.parse(bytes.toString('utf8') || '{}');
  if (!isObject(status) || status['status'] !== 'Failure') return 0;
  const { causes } = isObject(status['details']) ? status['details'] : {};
  const cause = Array.isArray(causes) ? causes.find((each) => isObject(each) && each['reason'] === 'ExitCode') : undefined;
  if (isObject(cause)) return Number(cause['message']);
  throw new ApiError('InternalError', `the shell did not run: ${String(status['message'])}`);
}
