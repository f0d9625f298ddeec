/** By which certificate virt-api knows the API server in front of it: the well-known ConfigMap says so on every cluster. */
import { CONFIG_MAPS, type ConfigMap } from '../../api/core/configmap.ts';
import { UserError } from '../../base/errors.ts';
import { type CacheOptions, startCache } from '../../client/cache.ts';

type FrontProxyTrust = {
  /** PEM. */
  readonly ca: string;
  /** Common names; none means any. */
  readonly names: readonly string[];
};

const NAME = 'extension-apiserver-authentication';
const NAMESPACE = 'kube-system';

/** What the ConfigMap says; a UserError when the API server has no front proxy. */
function trustFrom(object: ConfigMap | undefined): FrontProxyTrust {
  const ca = object?.data?.['requestheader-client-ca-file'];
  if (!ca)
    throw new UserError('NO_FRONT_PROXY', 'the API server of this cluster does not serve aggregated APIs', {
      why: `ConfigMap ${NAMESPACE}/${NAME} ${object ? 'has no requestheader-client-ca-file' : 'is not there'}`,
      fix: 'start kube-apiserver with --requestheader-client-ca-file and --proxy-client-cert-file',
    });
  const names: unknown = JSON.parse(object.data?.['requestheader-allowed-names'] ?? '[]');
  return { ca, names: Array.isArray(names) ? names.map(String) : [] };
}

type Options = Pick<CacheOptions<ConfigMap>, 'client' | 'clock' | 'log' | 'signal'> & { readonly onChange: () => void };

/** What is trusted now, kept up to date. */
export async function followFrontProxy({ onChange, ...options }: Options): Promise<{ readonly current: FrontProxyTrust }> {
  const maps = startCache({ ...options, resource: CONFIG_MAPS, namespace: NAMESPACE, fieldSelector: `metadata.name=${NAME}` });
  await maps.synced;
  const followed = { current: trustFrom(maps.list()[0]) };
  maps.subscribe(({ type, object }) => {
    const next = type === 'deleted' ? followed.current : trustFrom(object);
    if (next.ca === followed.current.ca && next.names.join() === followed.current.names.join()) return;
    followed.current = next;
    onChange();
  });
  return followed;
}
