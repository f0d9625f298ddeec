/**
 * Offers a device of this node to Pods that are not privileged: the kubelet lists it as a resource of the node, and gives it to containers that
 * ask for that resource. A kubelet that starts again forgets its plugins and removes their sockets, so a socket that is gone means to begin again.
 */
import { existsSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { allocateResponse, type DeviceSpec, deviceList, framed, PATHS, registerRequest, unframed } from './plugin-messages.ts';

export type DeviceOffer = {
  /** `devices.kubevirt.io/kvm`. */
  readonly resource: string;
  readonly device: DeviceSpec;
  /** How many containers may have it at the same time. */
  readonly count: () => number;
  /** Calls when that number may be another one. */
  readonly onCountChange?: (listener: () => void) => void;
  /** Where the kubelet keeps its own socket and looks for ours. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

const LOOK_EVERY_MS = 2_000;
const REGISTER_TIMEOUT_MS = 10_000;
const OK = { 'grpc-status': '0' };
const UNIMPLEMENTED = { 'grpc-status': '12' };

/** Keeps offering until the signal aborts. */
export async function offerDevice(offer: DeviceOffer): Promise<void> {
  const { resource, folder, clock, log, signal } = offer;
  const endpoint = `${resource.replaceAll(/[./]/g, '-')}.sock`;
  const path = join(folder, endpoint);
  const watching = new Set<ServerHttp2Stream>();
  offer.onCountChange?.(() => {
    for (const stream of watching) stream.write(devicesOf(offer));
  });
  while (!signal.aborted) {
    rmSync(path, { force: true }); // of a run that was killed
    const server = await serve(path, offer, watching);
    try {
      await register(join(folder, 'kubelet.sock'), { endpoint, resource });
      log.info('offering a device', { resource, count: offer.count() });
      while (!signal.aborted && existsSync(path)) await clock.sleep(LOOK_EVERY_MS, signal);
    } catch (error) {
      log.warn('the kubelet does not take a device, trying again', { resource, error: messageOf(error) });
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
    server.close();
  }
}

type Served = { close(): void };

/** Whoever lists the devices goes into `watching`, for as long as it listens. */
async function serve(path: string, offer: DeviceOffer, watching: Set<ServerHttp2Stream>): Promise<Served> {
  const server: Http2Server = createServer();
  const streams = new Set<ServerHttp2Stream>();

  server.on('stream', (stream, headers) => {
    streams.add(stream);
    stream.on('close', () => {
      streams.delete(stream);
      watching.delete(stream);
    });
    stream.on('error', () => {}); // the kubelet went; its socket tells
    answer(stream, String(headers[':path']), { offer, watching });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    close() {
      for (const stream of streams) stream.session?.destroy();
      server.close();
    },
  };
}

function devicesOf({ count }: DeviceOffer): Buffer {
  return framed(deviceList(Array.from({ length: count() }, (_, index) => String(index))));
}

function answer(
  stream: ServerHttp2Stream,
  path: string,
  { offer, watching }: { readonly offer: DeviceOffer; readonly watching: Set<ServerHttp2Stream> },
): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    const body = unframed(Buffer.concat(chunks));
    const isKnown = Object.values<string>(PATHS).includes(path);
    stream.on('wantTrailers', () => stream.sendTrailers(isKnown ? OK : UNIMPLEMENTED));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    if (path === PATHS.list) {
      stream.write(devicesOf(offer)); // and stays open: their number may change
      watching.add(stream);
    } else if (path === PATHS.allocate) stream.end(framed(allocateResponse(body, offer.device)));
    else if (path === PATHS.options) stream.end(framed(Buffer.alloc(0)));
    else stream.end();
  });
}

async function register(kubelet: string, request: { endpoint: string; resource: string }): Promise<void> {
  const session: ClientHttp2Session = connect('http://localhost', { createConnection: () => connectSocket(kubelet) });
  try {
    await new Promise<void>((resolve, reject) => {
      session.once('error', reject);
      const stream = session.request({ ':method': 'POST', ':path': PATHS.register, 'content-type': 'application/grpc', te: 'trailers' });
      stream.setTimeout(REGISTER_TIMEOUT_MS, () => reject(new Error(`no answer within ${REGISTER_TIMEOUT_MS / 1000} s`)));
      stream.once('error', reject);
      stream.once('close', () => reject(new Error('the kubelet went before it answered'))); // which is no error of a stream, and ends its timeout
      const judge = (headers: Readonly<Record<string, unknown>>) => {
        const status = headers['grpc-status'];
        if (status === '0') resolve();
        else if (status !== undefined) reject(new Error(`refused: ${headers['grpc-message'] ?? status}`));
      };
      stream.once('response', judge); // a refusal without a body is all headers
      stream.once('trailers', judge);
      stream.resume();
      stream.end(framed(registerRequest(request)));
    });
  } finally {
    session.destroy();
  }
}
