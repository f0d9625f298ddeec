/** One POST to a webhook: HTTPS to its Service (through the EndpointSlices) or its URL, within its time. */
import { X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { messageOf } from '../../../base/errors.ts';
import { httpsFetch } from '../../../base/node/https-fetch.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import type { ResolveService } from '../aggregation/service-proxy.ts';
import type { ClientConfig, WebhookPost } from './webhook.ts';

export type WebhookCallOptions = {
  readonly resolveService: ResolveService;
  readonly agent: Agent;
  /** Authorities that were read before: a configuration is read once and asked often. */
  readonly authorities: WeakMap<ClientConfig, string>;
};

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** There was no answer; the cause is what the way to it said. */
export class WebhookUnreachable extends Error {
  override readonly name = 'WebhookUnreachable';
}

/** The answer as JSON; an error says where it was not to be had from, and why. */
export async function postToWebhook({ config, body, timeoutSeconds, signal, maxAnswerBytes }: WebhookPost, options: WebhookCallOptions) {
  const late = timeoutSignal(timeoutSeconds * 1000);
  const url = urlOf(config, timeoutSeconds);
  try {
    const sent = { url, config, body: JSON.stringify(body), signal: AbortSignal.any([signal, late]), maxAnswerBytes };
    return await post(sent, options);
  } catch (error) {
    if (error instanceof Unreachable || error === late.reason) {
      const why = error === late.reason ? `no answer within ${timeoutSeconds} s` : messageOf(error);
      throw new WebhookUnreachable(`Post "${url}": ${why}`, { cause: error instanceof Unreachable ? error.cause : error });
    }
    throw error;
  }
}

class Unreachable extends Error {}

function urlOf({ url, service }: ClientConfig, timeoutSeconds: number): string {
  const path = service?.path ?? '';
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${path.startsWith('/') ? path : `/${path}`}`
    : (url ?? '');
  return `${base}${base.includes('?') ? '&' : '?'}timeout=${timeoutSeconds}s`;
}

type Post = Pick<WebhookPost, 'config' | 'signal' | 'maxAnswerBytes'> & { readonly url: string; readonly body: string };

async function post(
  { url, config, body, signal, maxAnswerBytes = MAX_ANSWER_BYTES }: Post,
  { resolveService, agent, authorities }: WebhookCallOptions,
): Promise<unknown> {
  const send = async (through: Agent): Promise<Response> => {
    const where = await locate(config, resolveService);
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const request = new Request(url, { method: 'POST', headers, body, signal });
    return httpsFetch(request, { ...where, ...trustOf(config, authorities), agent: through });
  };
  // The server may have closed a connection that we kept; a webhook may be asked twice, so a new one is worth a try.
  const response = await reached(() => send(agent).catch((error) => (isBroken(error) ? send(new Agent()) : Promise.reject(error))), signal);
  const text = await reached(() => textOf(response, maxAnswerBytes), signal);
  if (response.status !== 200) throw new Error(`the server answered ${response.status}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** Errors of the way there, told apart from what is wrong with an answer. */
async function reached<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new Unreachable(messageOf(error), { cause: error });
  }
}

async function locate({ service }: ClientConfig, resolveService: ResolveService) {
  if (!service) return {};
  const { namespace, name, port = 443 } = service;
  const connectTo = await resolveService(namespace, name, port);
  if (!connectTo) throw new Error(`no endpoints available for service "${name}"`);
  return { connectTo, servername: `${name}.${namespace}.svc` };
}

/** Without a bundle the system's authorities decide; a bundle that is no certificate must not fall back to them. */
function trustOf(config: ClientConfig, authorities: WebhookCallOptions['authorities']): { ca?: string } {
  if (!config.caBundle) return {};
  const known = authorities.get(config);
  if (known !== undefined) return { ca: known };
  const ca = Buffer.from(config.caBundle, 'base64').toString('utf8');
  new X509Certificate(ca);
  authorities.set(config, ca);
  return { ca };
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
