/** Reads the scale of anything that has one, found by its kind. */
import type { HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { Scale } from './observed.ts';

type ApiResources = { readonly resources?: readonly { readonly name: string; readonly kind: string }[] };
type ScaleObject = {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
};

/** Where things of a kind are does not change while they are served. */
export class ScaleReader {
  readonly #client: Client;
  readonly #plurals = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The scale, or why there is none. */
  async read({ metadata, spec }: HorizontalPodAutoscaler): Promise<Scale | { readonly error: string }> {
    const { apiVersion = 'v1', kind, name } = spec.scaleTargetRef;
    try {
      const plural = await this.#pluralOf(apiVersion, kind);
      if (plural === undefined) return { error: `no kind ${kind} of ${apiVersion} has a scale` };
      const path = `${rootOf(apiVersion)}/namespaces/${metadata.namespace}/${plural}/${encodeURIComponent(name)}/scale`;
      const scale = (await (await this.#client.request(path)).json()) as ScaleObject;
      const { selector = '', replicas = 0 } = scale.status ?? {};
      if (selector === '') return { error: `${kind} ${name} has no selector: nobody knows its Pods` };
      return { path, specReplicas: scale.spec?.replicas ?? 0, statusReplicas: replicas, selector };
    } catch (error) {
      return { error: messageOf(error) };
    }
  }

  async #pluralOf(apiVersion: string, kind: string): Promise<string | undefined> {
    const key = `${apiVersion} ${kind}`;
    const known = this.#plurals.get(key);
    if (known !== undefined) return known;
    const { resources = [] } = (await (await this.#client.request(rootOf(apiVersion))).json()) as ApiResources;
    const names = new Set(resources.map(({ name }) => name));
    const plural = resources.find((each) => each.kind === kind && names.has(`${each.name}/scale`))?.name;
    if (plural !== undefined) this.#plurals.set(key, plural);
    return plural;
  }
}

function rootOf(apiVersion: string): string {
  const path = apiVersion.split('/').map(encodeURIComponent).join('/');
  return apiVersion.includes('/') ? `/apis/${path}` : `/api/${path}`;
}
