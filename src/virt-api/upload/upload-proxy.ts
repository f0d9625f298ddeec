/**
 * What clients of CDI ask: a token for one PVC (an aggregated API, where who asks is known), and then with that token, without anything else, the
 * upload itself. A foreign token, an expired one and one of another PVC open nothing.
 *
 *   POST /apis/upload.cdi.kubevirt.io/v1beta1/namespaces/NAMESPACE/uploadtokenrequests      the token
 *   HEAD /v1beta1/upload-async                                                               whether there is such a path
 *   POST /v1beta1/upload, /v1beta1/upload-async                                              the file
 */
import { UPLOAD_PROXY_PATHS, UPLOAD_TOKENS } from '../../api/importer/upload.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { KeyPair } from '../../base/node/pki.ts';
import type { Client } from '../../client/client.ts';
import { readOptions } from '../subresources/read-options.ts';
import { alreadyFilled, isFilled, passOnUpload, uploadTargetOf } from './pass-on-upload.ts';
import { readToken, signToken, tokenKeyFrom } from './token.ts';

type Door = { readonly client: Client; readonly clock: Clock; readonly identity: KeyPair };

const { group, version, plural, kind } = UPLOAD_TOKENS;
const TOKENS_PATH = new RegExp(`^/apis/${group}/${version}/namespaces/([a-z0-9-]{1,63})/${plural}$`);

/** Anybody may knock: the token says who it is. */
export function isUploadPath(pathname: string): boolean {
  return pathname === UPLOAD_PROXY_PATHS.waits || pathname === UPLOAD_PROXY_PATHS.goesOn;
}

/** The file, for who has a token. */
export async function answerUpload(request: Request, { client, clock, identity }: Door): Promise<Response> {
  const [, token] = /^Bearer ([\w.-]+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
  if (token === undefined) throw new ApiError('Unauthorized', 'an upload needs a token: Authorization: Bearer TOKEN');
  const { namespace, name, uid } = readToken(tokenKeyFrom(identity.key), token, clock.now());
  const claim = await uploadTargetOf({ client, namespace, name });
  if (claim.metadata.uid !== uid) throw new ApiError('Unauthorized', 'the token of the upload is for another PVC of this name');
  if (request.method === 'HEAD' || request.method === 'GET') return new Response(null, { status: 200 });
  if (request.method !== 'POST' && request.method !== 'PUT') throw new ApiError('MethodNotAllowed', 'HEAD and POST are possible here');
  if (isFilled(claim)) throw alreadyFilled({ namespace, name });
  const isInAHurry = new URL(request.url).pathname === UPLOAD_PROXY_PATHS.goesOn;
  return passOnUpload({ client, namespace, name, request, handlerTls: identity }, claim, { isInAHurry });
}

/** The namespace of a path that asks for a token; undefined for any other path. */
export function tokenNamespaceOf(pathname: string): string | undefined {
  return TOKENS_PATH.exec(pathname)?.[1];
}

/** The token, for who may ask for one. */
export async function answerTokenRequest(request: Request, namespace: string, { client, clock, identity }: Door): Promise<Response> {
  if (request.method !== 'POST') throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only POST`);
  const { spec, metadata: given } = await readOptions(request);
  const name = isObject(spec) ? spec['pvcName'] : undefined;
  if (typeof name !== 'string' || !/^[a-z0-9.-]{1,253}$/.test(name)) throw new ApiError('Invalid', 'spec.pvcName has to name a PVC');
  const claim = await uploadTargetOf({ client, namespace, name });
  if (isFilled(claim)) throw alreadyFilled({ namespace, name });
  const metadata = { ...(isObject(given) && given), namespace };
  const token = signToken(tokenKeyFrom(identity.key), { namespace, name, uid: claim.metadata.uid ?? '' }, clock.now());
  return Response.json({ apiVersion: `${group}/${version}`, kind, metadata, spec: { pvcName: name }, status: { token } }, { status: 201 });
}

/** What the group offers, as clients and the API server in front ask for it; undefined for any other path. */
export function uploadDiscovery(pathname: string): object | undefined {
  const versions = [{ groupVersion: `${group}/${version}`, version }];
  if (pathname === `/apis/${group}`) return { kind: 'APIGroup', apiVersion: 'v1', name: group, versions, preferredVersion: versions[0] };
  if (pathname !== `/apis/${group}/${version}`) return undefined;
  const resources = [
    { name: plural, singularName: 'uploadtokenrequest', namespaced: true, kind, verbs: ['create'], shortNames: ['utr', 'utrs'] },
  ];
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources };
}
