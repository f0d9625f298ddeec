/** For tests that dump nothing. */
import type { DumpWay } from './vmi/domain-command.ts';

export const noDumps: DumpWay = { open: () => Promise.reject(new Error('nothing is dumped')), end: () => {} };
