/** A kubelet in a process of its own, to be killed: node killable-kubelet.testing.ts API_URL ROOT_DIR PROGRAMS_DIR */
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { startKubelet } from './start.ts';

const [, , baseUrl = '', rootDir = '', path = ''] = process.argv;
startKubelet({
  client: createClient({ fetch, baseUrl, userAgent: 'kubelet' }),
  nodeName: 'n1',
  rootDir,
  images: { resolve: () => undefined, unpacked: (reference) => Promise.reject(new Error(`no ${reference} here`)) },
  builtInImages: { 'test/shell': { path, programs: ['sh'] } },
  clock: systemClock,
  log: silentLogger,
  signal: new AbortController().signal,
  mayBecome: () => false,
});
