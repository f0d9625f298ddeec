/** Whether a cluster is new enough. */
import { kubernetesProblem } from '../../api/kubevirt/supported-kubernetes.ts';
import type { Client } from '../../client/client.ts';
import type { Problem } from '../status/status.ts';

/** Asks until the answer is yes, and not again after that: clusters grow newer only. */
export function kubernetesVersionCheck(client: Client): () => Promise<Problem | undefined> {
  let isSupported = false;
  return async () => {
    if (isSupported) return undefined;
    const { gitVersion } = (await (await client.request('/version')).json()) as { gitVersion: string };
    const message = kubernetesProblem(gitVersion);
    isSupported = message === undefined;
    return message === undefined ? undefined : { reason: 'UnsupportedKubernetes', message };
  };
}
