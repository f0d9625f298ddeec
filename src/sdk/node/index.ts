/** `import { connect } from 'kubevirt-ts'` in Node. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { UserError } from '../../base/errors.ts';
import { virtHome } from '../../base/node/folders.ts';
import { createClient } from '../../client/client.ts';
import { inClusterConfig } from '../../client/node/in-cluster.ts';
import { type Cluster, loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { createTlsFetch } from '../../client/node/tls-fetch.ts';
import { openWebSocket } from '../../client/node/websocket.ts';
import { createKubeVirt, type KubeVirt } from '../kubevirt.ts';
import { type StreamSocket, streamOf } from '../socket-stream.ts';

export * from '../exports.ts';

export type ConnectOptions = {
  /** Of a file; otherwise $KUBECONFIG, the service account of the Pod, the embedded cluster of this user, ~/.kube/config. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
};

/** Finds the cluster; nothing is sent before the first call. */
export async function connect(options: ConnectOptions = {}): Promise<KubeVirt> {
  const cluster = clusterOf(options);
  const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: 'kubevirt-ts-sdk' });
  return createKubeVirt({
    client,
    namespace: options.namespace ?? cluster.namespace ?? 'default',
    openStream: async (path, { signal } = {}) => {
      const socket = await openWebSocket({ cluster, path, protocols: [STREAM_SUBPROTOCOL], ...(signal && { signal }) });
      return streamOf(socket as unknown as StreamSocket); // its events have more than is asked for here
    },
  });
}

function clusterOf({ kubeconfig, context, env = process.env }: ConnectOptions): Cluster {
  const inFile = (path: string) => loadKubeconfig(path, context === undefined ? {} : { context });
  const explicit = kubeconfig ?? env['KUBECONFIG'];
  if (explicit) return inFile(explicit);
  if (env['KUBERNETES_SERVICE_HOST']) return inClusterConfig({ env });
  const files = [join(virtHome(env), 'kubeconfig'), join(homedir(), '.kube', 'config')];
  const found = files.find((path) => existsSync(path));
  if (found) return inFile(found);
  throw new UserError('NO_CLUSTER', 'there is no cluster to talk to', {
    why: `neither KUBECONFIG is set nor is there one of ${files.join(', ')}`,
    fix: 'virtctl up starts one on this machine',
    exitCode: 8,
  });
}
