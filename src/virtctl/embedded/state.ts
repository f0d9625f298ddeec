/** Whether the embedded cluster runs, told by the file it leaves behind and by the process that file names. */
import { isObject } from '../../base/json.ts';
import { livingPods } from '../../base/node/living-pods.ts';
import { isSameProcess, type ProcessIdentity } from '../../base/node/process-identity.ts';
import { readIfThereSync } from '../../base/node/read-if-there.ts';
import { statePath } from './paths.ts';

/** Written by the embedded process once it serves; left behind when it is killed. */
export type EmbeddedState = {
  readonly process: ProcessIdentity;
  readonly port: number;
  /** Where it serves the web page. */
  readonly pagePort?: number;
  readonly startedAt: string;
  readonly version: string;
  /** Where its guests live, and the next process has to look for them. */
  readonly network?: 'namespace' | 'host';
  /** It serves the API alone: nothing is started, scheduled or shut down. */
  readonly isWithoutControllers?: true;
};

/** The state of a running cluster, or undefined when none runs with this data folder. */
export function runningState(home: string): EmbeddedState | undefined {
  const state = lastState(home);
  return state && isSameProcess(state.process) ? state : undefined;
}

/** What the last cluster with this data folder wrote, whether it still runs or not; undefined where that is not what a cluster writes. */
export function lastState(home: string): EmbeddedState | undefined {
  try {
    const state: unknown = JSON.parse(readIfThereSync(statePath(home)) ?? 'null');
    const isComplete = isObject(state) && typeof state['port'] === 'number' && isObject(state['process']);
    return isComplete ? (state as EmbeddedState) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Guests and other containers that live in this data folder, with or without a cluster around them. */
export function guestsOf(home: string): readonly ProcessIdentity[] {
  return livingPods(home).flatMap(({ containers }) => containers.map(({ process }) => process));
}

/** Those of them that live in the network of the cluster, and not in one of their Pod's own. */
export function guestsInNetwork(home: string): readonly ProcessIdentity[] {
  return livingPods(home).flatMap(({ containers }) => containers.filter(({ isInside }) => !isInside).map(({ process }) => process));
}
