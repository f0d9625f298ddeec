/** `import { connect } from 'kubevirt-ts'` in Node. */
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { virtHome } from '../../base/node/folders.ts';
import { createClient } from '../../client/client.ts';
import { findKubeconfig } from '../../client/node/find-kubeconfig.ts';
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

function clusterOf({ kubeconfig: named, context, env = process.env }: ConnectOptions): Cluster {
  if (!named && !env['KUBECONFIG'] && env['KUBERNETES_SERVICE_HOST']) return inClusterConfig({ env });
  return loadKubeconfig(findKubeconfig({ named, env, home: virtHome(env) }), context === undefined ? {} : { context });
}
