/** A WebSocket that carries bytes, as a stream: the other side's pace is kept both ways. */
import type { Duplex } from 'node:stream';
import { loadWebSockets, openWebSocket, type WebSocketOptions } from './websocket.ts';

/** Resolves when the server has accepted; its refusal is thrown as the ApiError it sent. `onClosed` hears how it ended. */
export async function openWebSocketStream(options: WebSocketOptions, onClosed?: (code: number, reason: string) => void): Promise<Duplex> {
  const socket = await openWebSocket(options);
  if (onClosed) socket.once('close', (code, reason) => onClosed(code, String(reason)));
  const { createWebSocketStream } = await loadWebSockets();
  return createWebSocketStream(socket);
}
