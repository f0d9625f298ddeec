/** How a disk is sent to a PVC: the door of the Pod that takes it, the requests that CDI publishes for it, and what is said of how far it is. */

/** Where the Pod listens, for virt-api alone. */
export const UPLOAD_PORT = 8445;
export const UPLOAD_DOOR = '/upload';
/** PEM: who vouches for virt-api. */
export const UPLOAD_AUTHORITY_VARIABLE = 'KUBEVIRT_UPLOAD_AUTHORITY';
/** In the query of the door: answer as soon as all of it is here, and go on without the client. */
export const WITHOUT_WAITING = 'async';
/** What the whole file is, in hexadecimal; with the piece that ends it. */
export const UPLOAD_DIGEST_HEADER = 'x-kubevirt-sha256';

/** How far an upload is; the next piece begins at `receivedBytes`. */
export type UploadState = {
  readonly stage: 'waiting' | 'receiving' | 'processing' | 'done';
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  /** Why the file before was not taken. */
  readonly failure?: string;
};

/** As CDI publishes it: a token for one PVC, for some minutes. */
export const UPLOAD_TOKENS = {
  group: 'upload.cdi.kubevirt.io',
  version: 'v1beta1',
  plural: 'uploadtokenrequests',
  kind: 'UploadTokenRequest',
} as const;

/** The Service that clients of CDI send disks to. */
export const UPLOAD_PROXY_SERVICE = 'cdi-uploadproxy';

/** Its paths; the second answers before the disk is made of what it got. */
export const UPLOAD_PROXY_PATHS = { waits: '/v1beta1/upload', goesOn: '/v1beta1/upload-async' } as const;
