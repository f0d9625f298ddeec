/** The little of an API server that virt-api needs, in memory: get, list, and merge patches with their conditions. */
import type { KubeObject } from '../api/meta.ts';
import { ApiError } from '../base/errors.ts';
import { mergePatch } from '../base/json.ts';
import { statusResponse } from '../base/status-object.ts';
import { type Client, createClient } from '../client/client.ts';

export class FakeApi {
  readonly client: Client = createClient({ fetch: (request) => this.#answer(request), baseUrl: 'https://fake', userAgent: 'test' });
  /** Called before each patch: the place for a rival to be faster. */
  beforePatch: (path: string) => void = () => {};
  /** Whether a SubjectAccessReview is answered with yes. */
  mayDo: (spec: { readonly user: string; readonly groups: readonly string[]; readonly resourceAttributes: object }) => boolean = () => true;
  readonly #objects = new Map<string, KubeObject>();
  #revision = 1;

  /** Stores an object under `plural/name`. */
  put(plural: string, object: KubeObject): void {
    const resourceVersion = String(++this.#revision);
    this.#objects.set(`${plural}/${object.metadata.name}`, { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  get<T extends KubeObject>(plural: string, name: string): T | undefined {
    return this.#objects.get(`${plural}/${name}`) as T | undefined;
  }

  clear(): void {
    this.#objects.clear();
    this.beforePatch = () => {};
    this.mayDo = () => true;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, plural = '', name, subresource] =
      /\/(?:namespaces\/[^/]+|v1(?!\/namespaces\/))\/([^/]+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
    try {
      if (pathname.endsWith('/subjectaccessreviews')) {
        const review = await request.json();
        return Response.json({ ...review, status: { allowed: this.mayDo(review.spec) } });
      }
      if (request.method === 'PATCH') {
        return Response.json(this.#patch({ plural, name, subresource }, await request.json(), searchParams.get('dryRun') === 'All'));
      }
      if (name === undefined) {
        const items = [...this.#objects].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object);
        return Response.json({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items });
      }
      const found = this.get(plural, name);
      if (!found) throw new ApiError('NotFound', `${plural} "${name}" not found`);
      return Response.json(found);
    } catch (error) {
      return statusResponse(error);
    }
  }

  #patch(at: { plural: string; name?: string; subresource?: string }, patch: KubeObject, isDryRun: boolean): KubeObject {
    this.beforePatch(`${at.plural}${at.subresource ? `/${at.subresource}` : ''}`);
    const old = this.get(at.plural, at.name ?? '');
    if (!old) throw new ApiError('NotFound', `${at.plural} "${at.name}" not found`);
    const { uid = old.metadata.uid, resourceVersion = old.metadata.resourceVersion } = patch.metadata;
    if (uid !== old.metadata.uid || resourceVersion !== old.metadata.resourceVersion) throw new ApiError('Conflict', 'object was modified');
    const { status: oldStatus, ...oldRest } = old as KubeObject & { status?: unknown };
    const { status, ...rest } = mergePatch(old, patch) as KubeObject & { status?: unknown };
    // a write to the object cannot change its status, a write to its status nothing else; an instance has no subresource for it
    const isWhole = at.plural === 'virtualmachineinstances';
    const changed = (
      at.subresource === 'status' ? { ...oldRest, status } : { ...rest, status: isWhole ? status : oldStatus }
    ) as KubeObject;
    if (!isDryRun) this.put(at.plural, changed);
    return changed;
  }
}
