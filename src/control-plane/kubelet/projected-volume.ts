/** Volumes put together from several sources, above all the token of the Pod's service account. */
import type { Pod, PodVolume } from '../../api/core/pod.ts';
import { SERVICE_ACCOUNTS } from '../../api/core/service-account.ts';
import { pathOf } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

type Projected = NonNullable<PodVolume['projected']>;
type Source = NonNullable<Projected['sources']>[number];
type TokenSource = NonNullable<Source['serviceAccountToken']>;
type Files = ReadonlyMap<string, string | Uint8Array>;
/** How the other sources are read; they are volumes of their own as well. */
export type Readers = {
  readonly configMap: (source: NonNullable<PodVolume['configMap']>) => Promise<Files>;
  readonly secret: (source: NonNullable<PodVolume['secret']>) => Promise<Files>;
  readonly downwardAPI: (source: NonNullable<PodVolume['downwardAPI']>) => Files;
};

const DEFAULT_SECONDS = 3600;

/** The files of all sources together; a later source wins. */
export async function projectedFiles(
  projected: Projected,
  { pod, client, readers }: { pod: Pod; client: Client; readers: Readers },
): Promise<Files> {
  const files = new Map<string, string | Uint8Array>();
  for (const { serviceAccountToken, configMap, secret, downwardAPI } of projected.sources ?? []) {
    const found: Files = new Map([
      ...(configMap ? await readers.configMap(configMap) : []),
      ...(secret ? await readers.secret({ ...secret, secretName: secret.name }) : []),
      ...(downwardAPI ? readers.downwardAPI(downwardAPI) : []),
      ...(serviceAccountToken ? [[serviceAccountToken.path, await requestToken(client, pod, serviceAccountToken)] as const] : []),
    ]);
    for (const [path, content] of found) files.set(path, content);
  }
  return files;
}

/** A token for the Pod's service account that ends with the Pod. */
export async function requestToken(
  client: Client,
  pod: Pod,
  { audience, expirationSeconds = DEFAULT_SECONDS }: TokenSource,
): Promise<string> {
  const { namespace, name, uid } = pod.metadata;
  const spec = {
    ...(audience && { audiences: [audience] }),
    expirationSeconds,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
  };
  const account = pod.spec.serviceAccountName ?? 'default';
  const answer = await client.request(pathOf(SERVICE_ACCOUNTS, { namespace, name: account, subresource: 'token' }), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }),
  });
  const { status } = (await answer.json()) as { status?: { token?: string } };
  if (!status?.token) throw new ApiError('InternalError', `the API server gave no token for service account "${account}"`);
  return status.token;
}
