/** Builds the client-go program of the tests from the Go modules pinned here, once, into the cache folder. */
import { join } from 'node:path';
import { buildOnce, findGoProgram, type GoProgram, hasGo } from '../../../tools/go/build-once.ts';

const CLIENT_GO: GoProgram = {
  name: 'client-go',
  version: 'v0.34',
  source: import.meta.dirname,
  package: '.',
  variables: {},
  takes: 'a minute',
};

/** Why it cannot be built on this machine; false when it can, or when it has been. */
export function clientGoSkipReason(): string | false {
  return findGoProgram(CLIENT_GO) || hasGo() ? false : 'a client-go program is built with Go, which is not installed';
}

/** The path of the program. */
export function ensureClientGo(): string {
  return join(buildOnce(CLIENT_GO), CLIENT_GO.name);
}
