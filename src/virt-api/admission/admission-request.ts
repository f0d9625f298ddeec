/** The question that the API server puts to us about one write, and who asks in it. */
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

/** An object of one of our kinds; mutating admission sees it before its schema was checked. */
export type ReviewedObject = KubeObject & JsonObject;

export type AdmissionRequest = {
  readonly uid: string;
  readonly operation: string;
  readonly username: string;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
};

/** Reads the body of an AdmissionReview; throws BadRequest for anything else. */
export function admissionRequestOf(body: unknown): AdmissionRequest {
  const request = isObject(body) && body['kind'] === 'AdmissionReview' ? body['request'] : undefined;
  if (!isObject(request) || typeof request['uid'] !== 'string' || typeof request['operation'] !== 'string')
    throw new ApiError('BadRequest', 'the body must be an AdmissionReview (admission.k8s.io/v1) with a request');
  const { uid, operation, userInfo, object, oldObject } = request;
  const { username } = isObject(userInfo) ? userInfo : {};
  return { uid, operation, username: String(username ?? ''), object: reviewed(object), oldObject: reviewed(oldObject) };
}

function reviewed(value: unknown): ReviewedObject | undefined {
  return isObject(value) && isObject(value['metadata']) ? (value as ReviewedObject) : undefined; // the API server has made sure of the rest
}

const COMPONENTS = ['kubevirt-controller', 'kubevirt-handler', 'kubevirt-apiserver', 'kubevirt-operator'].map(
  (name) => `system:serviceaccount:${INSTALL_NAMESPACE}:${name}`,
);

/** One of our own components asks. */
export function isComponent(username: string): boolean {
  return COMPONENTS.includes(username);
}

/** A part of Kubernetes itself asks: the garbage collector must be able to take owner references away. */
export function isControlPlane(username: string): boolean {
  return username.startsWith('system:serviceaccount:kube-system:') || username === 'system:kube-controller-manager';
}
