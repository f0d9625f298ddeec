/** A WebSocket that carries bytes, as a stream: the other side's pace is kept both ways. */
import type { Duplex } from 'node:stream';
import { loadWebSockets, openWebSocket, type WebSocketOptions } from './websocket.ts';

/** Resolves when the server has accepted; its refusal is thrown as the ApiError it sent. */
export async function openWebSocketStream(options: WebSocketOptions): Promise<Duplex> {
  const socket = await openWebSocket(options);
  const { createWebSocketStream } = await loadWebSockets();
  return createWebSocketStream(socket);
}
