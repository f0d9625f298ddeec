/** Where on this machine exports of an embedded cluster are: where the host reaches our Service. */
import { SERVICES } from '../../api/core/service.ts';
import { EXPORT_PROXY_SERVICE } from '../../api/exporter/exporter.ts';
import { ANNOTATION_HOST_ADDRESSES, INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { Client } from '../../client/client.ts';
import { hostUrlOf } from './keep-upload-proxy.ts';

/** With who vouches for it; undefined when the host does not reach it yet. */
export async function findExportProxy(client: Client, cert: string): Promise<{ readonly url: string; readonly cert: string } | undefined> {
  const service = await client.get(SERVICES, { namespace: INSTALL_NAMESPACE, name: EXPORT_PROXY_SERVICE });
  const url = service?.metadata.annotations?.[ANNOTATION_HOST_ADDRESSES] && hostUrlOf(service);
  return url ? { url, cert } : undefined;
}
