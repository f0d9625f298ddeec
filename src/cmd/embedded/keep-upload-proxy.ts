/**
 * The CDIConfig of an embedded cluster: says where on this machine clients of CDI send disks, which is where the host reaches our Service, and how much
 * of a PVC its file system needs itself.
 */
import { SERVICES, type Service } from '../../api/core/service.ts';
import { UPLOAD_PROXY_SERVICE } from '../../api/importer/upload.ts';
import { CDI_CONFIG_NAME, CDI_CONFIGS } from '../../api/kubevirt/kinds/cdi-config.ts';
import { ANNOTATION_HOST_ADDRESSES, INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import { FILE_SYSTEM_OVERHEAD } from '../../api/kubevirt/volumes/disk-size.ts';
import { keyOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';

type Options = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Runs until the signal aborts. */
export async function keepUploadProxy(options: Options): Promise<void> {
  const { client, log, signal } = options;
  await ensureConfig(client);
  let said: string | undefined;
  const services = startCache({ ...options, resource: SERVICES, namespace: INSTALL_NAMESPACE });
  const tell = async () => {
    const service = services.get(keyOf({ namespace: INSTALL_NAMESPACE, name: UPLOAD_PROXY_SERVICE }));
    const url = service && hostUrlOf(service);
    if (url === said) return;
    said = url;
    await client.patch(CDI_CONFIGS, { name: CDI_CONFIG_NAME }, { status: { uploadProxyURL: url ?? null } }, { subresource: 'status' });
  };
  services.subscribe(() => void tell().catch((error) => log.warn('where disks are sent is not said', { error })));
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function ensureConfig(client: Client): Promise<void> {
  const config = { apiVersion: apiVersionOf(CDI_CONFIGS), kind: 'CDIConfig', metadata: { name: CDI_CONFIG_NAME }, spec: {} } as const;
  await client.create(CDI_CONFIGS, config).catch((error) => {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  });
  const filesystemOverhead = { global: String(FILE_SYSTEM_OVERHEAD) };
  await client.patch(CDI_CONFIGS, { name: CDI_CONFIG_NAME }, { status: { filesystemOverhead } }, { subresource: 'status' });
}

/** Where the host reaches it: `443:30443/TCP=127.0.0.1:30443`, as the annotation has it. */
export function hostUrlOf({ metadata: { annotations } }: Service): string | undefined {
  const [, address] = /=([^,]+)/.exec(annotations?.[ANNOTATION_HOST_ADDRESSES] ?? '') ?? [];
  return address && `https://${address}`;
}
