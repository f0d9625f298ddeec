/** The way from the page to the API. Watches go over a WebSocket each: a browser has only six plain connections to a server, for all its tabs. */
import type { KubeFetch } from '../client/client.ts';
import { takeBegun } from './begun.ts';

export const pageFetch: KubeFetch = (request) => {
  if (new URL(request.url).searchParams.get('watch') === 'true') return watchResponse(request);
  return (request.method === 'GET' && takeBegun(request.url)) || fetch(request).catch(inOurWords);
};

/** Each browser has words of its own for a server that is away, and none of them says which. */
function inOurWords(error: unknown): never {
  if (error instanceof TypeError) throw new Error('the server of this page does not answer', { cause: error });
  throw error;
}

/** For people who signed in: when the cluster does not know them any more, the page begins anew, which asks who they are. Others keep what they see. */
export function fetchFor(isSignedIn: Promise<boolean>): KubeFetch {
  isSignedIn.catch(() => {}); // whoever asked hears of it
  return async (request) => {
    const response = await pageFetch(request);
    isOut = response.status === 401;
    if (isOut && (await isSignedIn)) location.reload();
    return response;
  };
}

let isOut = false;

/** The server of the page does not know this browser any more: nothing will be new again before somebody opens another link. */
export function isShutOut(): boolean {
  return isOut;
}

/** Ends what the server keeps of the user, and asks for the next one. */
export async function signOut(): Promise<void> {
  await fetch('/sign-out', { method: 'POST', redirect: 'manual' });
  location.assign('/');
}

/** The first message is the status, every other one a piece of the body. */
function watchResponse({ url, signal }: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'));
    socket.binaryType = 'arraybuffer';
    let body: ReadableStreamDefaultController<Uint8Array> | undefined;
    const abort = () => socket.close();
    signal.addEventListener('abort', abort, { once: true });
    socket.onmessage = ({ data }) => {
      if (body) return body.enqueue(new Uint8Array(data));
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          body = controller;
        },
        cancel: abort,
      });
      resolve(new Response(stream, { status: Number(data) }));
    };
    socket.onclose = () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the server does not answer'));
      try {
        body?.close();
      } catch {
        // whoever read it wants no more
      }
    };
  });
}
