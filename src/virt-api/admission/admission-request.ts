/** The question that the API server puts to us about one write, and who asks in it. */
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { EXTRA_NODE_NAME } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

/** An object of one of our kinds; mutating admission sees it before its schema was checked. */
export type ReviewedObject = KubeObject & JsonObject;

export type AdmissionRequest = {
  readonly uid: string;
  readonly operation: string;
  readonly username: string;
  /** The node of the Pod whose token it is, where Kubernetes tells (1.30 and later). */
  readonly userNode?: string;
  readonly isDryRun: boolean;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
};

/** Reads the body of an AdmissionReview; throws BadRequest for anything else. */
export function admissionRequestOf(body: unknown): AdmissionRequest {
  const request = isObject(body) && body['kind'] === 'AdmissionReview' ? body['request'] : undefined;
  if (!isObject(request) || typeof request['uid'] !== 'string' || typeof request['operation'] !== 'string')
    throw new ApiError('BadRequest', 'the body must be an AdmissionReview (admission.k8s.io/v1) with a request');
  const { uid, operation, userInfo, dryRun, object, oldObject } = request;
  const { username, extra } = isObject(userInfo) ? userInfo : {};
  const userNode = nodeFrom(extra);
  return {
    uid,
    operation,
    username: typeof username === 'string' ? username : '',
    ...(userNode !== undefined && { userNode }),
    isDryRun: dryRun === true,
    object: reviewed(object),
    oldObject: reviewed(oldObject),
  };
}

function nodeFrom(extra: unknown): string | undefined {
  const names = isObject(extra) ? extra[EXTRA_NODE_NAME] : undefined;
  return Array.isArray(names) && typeof names[0] === 'string' ? names[0] : undefined;
}

function reviewed(value: unknown): ReviewedObject | undefined {
  return isObject(value) && isObject(value['metadata']) ? (value as ReviewedObject) : undefined; // the API server has made sure of the rest
}

const HANDLER = userNameOf('virt-handler');
const COMPONENTS = [HANDLER, userNameOf('virt-controller'), userNameOf('virt-api'), userNameOf('virt-operator')];

/** The node whose virt-handler asks; undefined when somebody else does, or when Kubernetes is too old to tell. */
export function handlerNodeOf({ username, userNode }: Pick<AdmissionRequest, 'username' | 'userNode'>): string | undefined {
  return username === HANDLER ? userNode : undefined;
}

/** One of our own components asks. */
export function isComponent(username: string): boolean {
  return COMPONENTS.includes(username);
}

/** A part of Kubernetes itself asks: the garbage collector must be able to take owner references away. */
export function isControlPlane(username: string): boolean {
  return username.startsWith('system:serviceaccount:kube-system:') || username === 'system:kube-controller-manager';
}
