/** Brings what somebody sends for a PVC to the Pod that takes it, and back what that says. Who may has been asked before. */
import { PODS } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { UPLOAD_DIGEST_HEADER, UPLOAD_DOOR, UPLOAD_PORT, type UploadState, WITHOUT_WAITING } from '../../api/importer/upload.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { controllerOf } from '../../api/meta.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent, type TlsIdentity } from '../../base/node/https-fetch.ts';
import type { Client } from '../../client/client.ts';
import type { SubresourceCall } from '../subresource-call.ts';

type Upload = Pick<SubresourceCall, 'client' | 'namespace' | 'name' | 'request' | 'handlerTls'>;

const PASSED_ON = ['content-range', 'content-length', UPLOAD_DIGEST_HEADER];
const AGENT = keepAliveAgent();

/** GET, PUT persistentvolumeclaims/NAME/upload. */
export async function uploadPiece(call: Upload): Promise<Response> {
  const claim = await uploadTargetOf(call);
  return isFilled(claim) ? filledAnswer(call) : passOnUpload(call, claim);
}

/** The PVC, when it is one that an upload is for. */
export async function uploadTargetOf({
  client,
  namespace,
  name,
}: Pick<Upload, 'client' | 'namespace' | 'name'>): Promise<PersistentVolumeClaim> {
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name });
  const details = { name, kind: 'persistentvolumeclaims' };
  if (!claim) throw new ApiError('NotFound', `persistentvolumeclaims "${name}" not found`, { details });
  if (claim.metadata.annotations?.[CDI_ANNOTATIONS.uploadTarget] === undefined)
    throw new ApiError('BadRequest', `PVC ${namespace}/${name} is not one that an upload is for`, { details });
  return claim;
}

export function isFilled({ metadata: { annotations } }: PersistentVolumeClaim): boolean {
  return annotations?.[CDI_ANNOTATIONS.podPhase] === 'Succeeded';
}

export function alreadyFilled({ namespace, name }: Pick<Upload, 'namespace' | 'name'>): ApiError {
  return new ApiError('Conflict', `PVC ${namespace}/${name} is filled already: what is in it is not replaced`);
}

function filledAnswer(call: Upload): Response {
  if (call.request.method !== 'GET') throw alreadyFilled(call);
  return Response.json({ stage: 'done', receivedBytes: 0 } satisfies UploadState);
}

/** To its Pod; ServiceUnavailable when that does not take it yet. */
export async function passOnUpload(
  call: Upload,
  claim: PersistentVolumeClaim,
  options: { readonly isInAHurry?: boolean } = {},
): Promise<Response> {
  const { request, namespace, name, handlerTls } = call;
  const host = await addressOf(call.client, claim);
  if (host === undefined) throw notYet(call);
  const url = `https://virt-importer${UPLOAD_DOOR}${options.isInAHurry ? `?${WITHOUT_WAITING}` : ''}`;
  try {
    const passed = new Request(url, { method: request.method, body: request.body, duplex: 'half', signal: request.signal } as RequestInit);
    return await httpsFetch(passed, {
      ...tlsTo(handlerTls),
      agent: AGENT,
      connectTo: { host, port: UPLOAD_PORT },
      headers: headersOf(request.headers),
    });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError(
      'ServiceUnavailable',
      `the Pod that takes the upload of PVC ${namespace}/${name} cannot be reached: ${messageOf(error)}`,
      {
        cause: error,
        details: { retryAfterSeconds: 1 },
      },
    );
  }
}

/** We show who we are; the Pod is known by its address, which the kubelet says. */
function tlsTo({ cert, key }: TlsIdentity): TlsIdentity {
  return { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }), rejectUnauthorized: false };
}

function headersOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}

async function addressOf(client: Client, claim: PersistentVolumeClaim): Promise<string | undefined> {
  const owner = controllerOf(claim);
  const { namespace, name, uid } = claim.metadata;
  const filled = owner?.kind === DATA_VOLUMES.kind ? { name: owner.name, uid: owner.uid } : { name, uid };
  const pod = await client.get(PODS, { namespace, name: importerPodNameOf({ metadata: filled as PersistentVolumeClaim['metadata'] }) });
  const isOfIt = pod && controllerOf(pod)?.uid === filled.uid;
  return isOfIt && pod.status?.phase === 'Running' ? pod.status.podIP : undefined;
}

function notYet({ namespace, name }: Upload): ApiError {
  const details = { retryAfterSeconds: 1 };
  return new ApiError('ServiceUnavailable', `PVC ${namespace}/${name} takes no upload yet: its Pod does not run`, { details });
}
