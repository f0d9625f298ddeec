/** Files of the embedded cluster under $VIRT_HOME that the command line reads. */
import { join } from 'node:path';

/** Who runs the cluster and where it listens; see EmbeddedState. */
export function statePath(home: string): string {
  return join(home, 'run', 'embedded.json');
}

export function logPath(home: string): string {
  return join(home, 'logs', 'embedded.log');
}

/** Held while a cluster is being started or stopped. */
export function startLockPath(home: string): string {
  return join(home, 'run', 'start.lock');
}

/** Who starts the cluster again when it dies of itself. */
export function supervisorPath(home: string): string {
  return join(home, 'run', 'supervisor.json');
}

/** How often that happened, written by a shell: see supervisor.ts. */
export function restartsPath(home: string): string {
  return join(home, 'run', 'restarts');
}

/** Where the cluster, in its own network, asks for a process on the network of the host: a pipe that the supervisor reads. */
export function hostCallPath(home: string): string {
  return join(home, 'run', 'host-call');
}

/** What signs links to the web page of the running cluster; a new one with each start. */
export function pageKeyPath(home: string): string {
  return join(home, 'run', 'page.key');
}

/** Where that process finds the cluster. */
export function hostPortsPath(home: string): string {
  return join(home, 'run', 'host-ports.sock');
}
