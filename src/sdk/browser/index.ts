/** `import { connect } from 'kubevirt-ts'` in a browser. */
import { TOKEN_SUBPROTOCOL } from '../../api/core/token-subprotocol.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { base64Of } from '../../base/base64.ts';
import { ApiError } from '../../base/errors.ts';
import { createClient } from '../../client/client.ts';
import { urlAt } from '../../client/url-at.ts';
import { createKubeVirt, type KubeVirt } from '../kubevirt.ts';
import { type StreamSocket, streamOf } from '../socket-stream.ts';
import type { OpenStream } from '../streams.ts';

export * from '../exports.ts';

export type ConnectOptions = {
  /** Of an API server, or of what stands before one; where the page came from unless given. */
  readonly url?: string;
  /** Without one the browser's own cookies and certificates say who it is. */
  readonly token?: string;
  readonly namespace?: string;
};

/** Nothing is sent before the first call. */
export async function connect({ url = location.origin, token, namespace = 'default' }: ConnectOptions = {}): Promise<KubeVirt> {
  const withToken = (request: Request): Request => {
    if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
    return request;
  };
  const client = createClient({ fetch: (request) => fetch(withToken(request)), baseUrl: url, userAgent: 'kubevirt-ts-sdk' });
  return createKubeVirt({ client, namespace, openStream: opener(url, token) });
}

/** A browser does not tell why a socket was refused. */
function opener(url: string, token: string | undefined): OpenStream {
  const protocols = [STREAM_SUBPROTOCOL, ...(token === undefined ? [] : [TOKEN_SUBPROTOCOL + base64Url(token)])];
  return (path, { signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const socket = new WebSocket(urlAt(url.replace(/^http/, 'ws'), path), protocols);
      signal?.addEventListener('abort', () => socket.close(), { once: true });
      socket.addEventListener('open', () => resolve(streamOf(socket as StreamSocket)));
      socket.addEventListener('close', () => reject(signal?.reason ?? new ApiError('ServiceUnavailable', `${path} was refused`)));
    });
}

function base64Url(text: string): string {
  return base64Of(new TextEncoder().encode(text)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
