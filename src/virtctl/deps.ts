/** What a command works with: everything it touches is passed in, so that a test can pass something else. */
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import type { Client } from '../client/client.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import type { Places } from './context.ts';

export type ConnectionFlags = {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly verbosity?: number;
};

/** The serial console of a guest as a pair of byte streams. */
export type ConsoleStream = {
  readonly output: AsyncIterable<Buffer>;
  write(bytes: Uint8Array): void;
  /** Asks to be the one who types. */
  takeOver(): void;
  close(): void;
};

export type ConsoleTarget = {
  readonly namespace: string;
  readonly name: string;
  /** Look on beside others, with what was printed before; otherwise this connection ends an earlier one. */
  readonly isShared: boolean;
  /** Only look: who types goes on typing. */
  readonly isReadOnly?: boolean;
  /** Told whenever it changes who types. */
  readonly onTurn?: (isMine: boolean) => void;
  /** Told when the guest goes on at another node, and the stream with it. */
  readonly onMoved?: () => void;
  /** Only what was printed before; then the stream ends. */
  readonly isReplay?: boolean;
  readonly signal?: AbortSignal;
};

/** A program in a container, with what it prints and reads. */
export type PodShell = {
  /** Ends with the program. */
  readonly output: AsyncIterable<Buffer>;
  /** How it ended, once it has; undefined when nobody said it. */
  exitCode(): number | undefined;
  write(bytes: Uint8Array): void;
  /** No more input comes. */
  end(): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
};

export type PodShellTarget = {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly command: readonly string[];
  /** Whether it is to have a terminal of its own. */
  readonly isTerminal: boolean;
};

/** A cluster, and how to talk to it. */
export type Connection = {
  readonly client: Client;
  readonly cluster: Cluster;
  /** Its address. */
  readonly server: string;
  /** The one that was asked for, or that of the kubeconfig. */
  readonly namespace: string;
  /** A two-way stream to a path of the server; with which code and reason the server has closed it is told. */
  openStream(path: string, onClosed?: (code: number, reason: string) => void): Promise<Duplex>;
  openConsole(target: ConsoleTarget): Promise<ConsoleStream>;
  openPodShell(target: PodShellTarget): Promise<PodShell>;
};

export type Input = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** What every command gets. */
export type Deps = Places & {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  /** The folder in which the program was called. */
  readonly workingFolder: string;
  readonly clock: Clock;
  /** Ends what would go on until the program is ended. */
  readonly signal: AbortSignal;
  /** For a command that may do without a cluster; what speaks TLS is loaded by the first call. */
  connect(flags: ConnectionFlags): Promise<Connection>;
  /** Calls `act` instead of ending the program; what it returns ends that again. */
  onSignal(signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void): () => void;
  /** Ends the program at once, whatever is open. */
  exit(code: number): never;
};

/** What a command gets that does nothing without a cluster. */
export type ClusterDeps = Deps & Connection;
