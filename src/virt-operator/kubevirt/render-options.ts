/** What the components are made from, as a KubeVirt object says. Pure. */
import { TOOLS_IMAGE } from '../../api/kubevirt/guestfs.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { RenderOptions } from '../render/options.ts';

export type Defaults = {
  readonly namespace: string;
  readonly version: string;
  /** Of the operator itself: `registry/kubevirt:tag`. */
  readonly image: string;
  /** When it does not follow from that. */
  readonly launcherImage?: string | undefined;
  readonly importerImage?: string | undefined;
  readonly kubeletRoot?: string | undefined;
};

/** The object's own words first, then what the operator was started with. */
export function renderOptionsFrom({ spec }: KubeVirt, { image, launcherImage, importerImage, ...rest }: Defaults): RenderOptions {
  const { productName, productVersion, productComponent } = spec;
  const { imageRegistry, imageTag, imagePullPolicy, imagePullSecrets = [], infra, workloads } = spec;
  const { registry, tag } = partsOf(image);
  const named = (name: string) => `${imageRegistry ?? registry}/${name}:${imageTag ?? tag}`;
  const isOther = imageRegistry !== undefined || imageTag !== undefined;
  return {
    ...rest,
    images: {
      components: isOther ? named('kubevirt') : image,
      launcher: isOther ? named('virt-launcher') : (launcherImage ?? named('virt-launcher')),
      importer: isOther ? named('virt-importer') : (importerImage ?? named('virt-importer')),
      tools: named(TOOLS_IMAGE),
    },
    imagePullPolicy,
    imagePullSecrets: imagePullSecrets.flatMap(({ name }) => name ?? []),
    product: { name: productName, version: productVersion, component: productComponent },
    hasNoAggregation: spec.configuration?.roleAggregationStrategy === 'Manual',
    monitor: monitorOf(spec),
    replicas: infra?.replicas,
    infraPlacement: infra?.nodePlacement,
    workloadsPlacement: workloads?.nodePlacement,
  };
}

/** Undefined unless one of them is named; the other is the usual one. */
function monitorOf({ monitorAccount, monitorNamespace }: KubeVirt['spec']): RenderOptions['monitor'] {
  if (!monitorAccount && !monitorNamespace) return undefined;
  return { account: monitorAccount || 'prometheus-k8s', namespace: monitorNamespace || 'monitoring' };
}

/** `host:5000/prefix/kubevirt:v1` is registry `host:5000/prefix` and tag `v1`. */
function partsOf(image: string): { registry: string; tag: string } {
  const [, registry = '', tag = 'latest'] = /^(.*)\/[^/:@]+(?::([^/:@]+))?(?:@.*)?$/.exec(image) ?? [];
  return { registry, tag };
}
