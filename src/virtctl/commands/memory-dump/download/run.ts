/** Takes the last dump of a machine's memory out of a cluster. */
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { type DumpFlags, downloadDump } from '../../../export/download-dump.ts';
import { vmName } from '../../../vm-target.ts';

export function run(deps: ClusterDeps, flags: ConnectionFlags & DumpFlags, ...words: string[]): Promise<void> {
  return downloadDump(deps, vmName('memory-dump download', words), flags);
}
