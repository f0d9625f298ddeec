/** Which cluster a command talks to. */
import { X509Certificate } from 'node:crypto';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { systemClock } from '../base/clock.ts';
import { UserError } from '../base/errors.ts';
import { createClient } from '../client/client.ts';
import { findKubeconfig } from '../client/node/find-kubeconfig.ts';
import { loadKubeconfig } from '../client/node/kubeconfig.ts';
import { createTlsFetch } from '../client/node/tls-fetch.ts';
import { openWebSocketStream } from '../client/node/websocket-stream.ts';
import { openConsole } from './console/open-console.ts';
import type { Places } from './context.ts';
import type { Connection, ConnectionFlags, Output } from './deps.ts';

/** As with kubectl: from this level on the requests are told. */
const REQUESTS_FROM = 6;

type Caller = Pick<Places, 'home' | 'version'> & { readonly env: NodeJS.ProcessEnv; readonly stderr: Output };

/** Reads the kubeconfig; nothing is sent before the first request. */
export function connect(caller: Caller, flags: ConnectionFlags): Connection {
  const path = findKubeconfig({ ...caller, named: flags.kubeconfig });
  const loaded = loadKubeconfig(path, flags.context === undefined ? {} : { context: flags.context });
  const { verbosity = 0 } = flags;
  const trace = (line: string) => caller.stderr.write(`${line}\n`);
  const cluster = verbosity >= REQUESTS_FROM ? { ...loaded, trace } : loaded;
  if (cluster.cert) mustBeValid(cluster.cert, path, systemClock.now());
  const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: `virtctl/${caller.version}` });
  return {
    client,
    cluster,
    server: cluster.server,
    namespace: flags.namespace ?? cluster.namespace ?? 'default',
    openStream: (path, onClosed) => openWebSocketStream({ cluster, path, protocols: [STREAM_SUBPROTOCOL] }, onClosed),
    openConsole: (target) => openConsole(cluster, target),
    openPodShell: async (target) => (await import('./guestfs/pod-shell.ts')).openPodShell(cluster, target),
  };
}

/** A server refuses who shows an expired certificate with 401, and its answer does not say why. */
function mustBeValid(certificate: string, path: string, now: number): void {
  const { validTo, validToDate } = new X509Certificate(certificate);
  if (now <= validToDate.getTime()) return;
  throw new UserError('CERTIFICATE_EXPIRED', `the client certificate in ${path} has expired`, {
    why: `it was valid until ${validTo}`,
    fix: 'virtctl down and virtctl up renew that of an embedded cluster; for another one, ask whoever gave it to you',
    exitCode: 6,
  });
}
