/** What a client of exec or attach has opened, whichever protocol it speaks: run-exec.ts knows no wire, those who read wires know no processes. */
import type { Readable, Writable } from 'node:stream';

export type TerminalSize = { readonly width: number; readonly height: number };

export type ClientStreams = {
  /** Ends when the client says so; undefined when it has none. */
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Told of every new size of the client's terminal. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** The last word to the client: how it went. Closes the connection. */
  finish(status: object): Promise<void>;
};

export type WantedStreams = { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean; readonly tty: boolean };

/** A size as clients send it; undefined for anything that is none. */
export function readSize(text: string): TerminalSize | undefined {
  try {
    const { Width, Height } = JSON.parse(text) as { Width?: unknown; Height?: unknown };
    return isSize(Width) && isSize(Height) ? { width: Width, height: Height } : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}
