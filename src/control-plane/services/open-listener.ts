/** A socket of a Service that is open, of either protocol. */
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { TargetChoice } from './target-choice.ts';

export type OpenListenerOptions = {
  readonly host: string;
  readonly port: number;
  readonly choice: TargetChoice;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
  readonly onListening: () => void;
  /** Asked for each new connection or client: undefined when there are enough. */
  readonly enter?: () => (() => void) | undefined;
};

export type OpenListener = {
  /** A connection that somebody else has accepted for it; `client` says whose it is. */
  take(socket: Socket, client: string): void;
  /** Takes nothing new. */
  close(): void;
  /** Ends what it has, too. */
  destroy(): void;
};
