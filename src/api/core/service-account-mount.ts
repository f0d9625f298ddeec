/** Where a Pod finds the token of its service account, the authority of the API server and its own namespace. */
export const SERVICE_ACCOUNT_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
