/** Asks one probe once: a web page, whether a port takes connections, or a program in the container. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Container, HttpGetAction, Probe } from '../../api/core/pod.ts';
import { messageOf } from '../../base/errors.ts';

export type ProbeRun = {
  readonly probe: Probe;
  readonly container: Container;
  readonly podIP: string;
  readonly signal: AbortSignal;
  readonly exec: (container: Container, command: readonly string[], signal: AbortSignal) => Promise<string | undefined>;
};

/** Undefined for a yes, the reason for a no; never throws. */
export async function runProbe({ probe, container, podIP, signal, exec }: ProbeRun): Promise<string | undefined> {
  const { httpGet, tcpSocket } = probe;
  const action = httpGet ?? tcpSocket;
  try {
    if (!action && probe.exec) return await exec(container, probe.exec.command ?? [], signal);
    const port = action && portOf(action.port, container);
    if (!action || port === undefined) return `the container has no port ${action?.port}`;
    const at = { host: action.host || podIP, port, signal };
    return await (httpGet ? askWeb(httpGet, at) : askPort(at));
  } catch (error) {
    return signal.aborted ? 'no answer in time' : messageOf(error);
  }
}

type At = { readonly host: string; readonly port: number; readonly signal: AbortSignal };

/** Only the status counts; certificates are not checked, as nobody issues any for the address of a Pod. */
function askWeb({ path = '/', scheme, httpHeaders = [] }: HttpGetAction, { host, port, signal }: At): Promise<string | undefined> {
  const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
  const options = {
    host,
    port,
    path: path.startsWith('/') ? path : `/${path}`,
    headers: { 'user-agent': 'kube-probe/1.34', ...headers },
    signal,
  };
  return new Promise((resolve, reject) => {
    const ask =
      scheme === 'HTTPS'
        ? httpsRequest({ ...options, rejectUnauthorized: false, agent: false })
        : httpRequest({ ...options, agent: false });
    ask.once('response', ({ statusCode = 0 }) => {
      ask.destroy(); // a page may be long
      resolve(statusCode >= 200 && statusCode < 400 ? undefined : `HTTP probe failed with statuscode: ${statusCode}`);
    });
    ask.on('error', reject);
    ask.end();
  });
}

function askPort(at: At): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(at);
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', reject);
  });
}

function portOf(port: number | string, { ports = [] }: Container): number | undefined {
  const number = Number(port);
  return Number.isInteger(number) && number > 0 ? number : ports.find(({ name }) => name === port)?.containerPort;
}
