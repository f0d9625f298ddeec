/** What `virtctl doctor` finds on the machine of an embedded cluster, as the server of the web page tells it: the API does not know that machine. */

/** Where the page asks for it. */
export const HOST_CHECKS_PATH = '/doctor.json';

export type HostCheckStatus = 'ok' | 'warning' | 'failed';

export type HostCheck = { readonly name: string; readonly status: HostCheckStatus; readonly text: string; readonly fix?: string };
