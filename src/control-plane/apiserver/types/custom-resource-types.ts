/** A CustomResourceDefinition as the resource types it defines, one per served version. */
import { isObject } from '../../../base/json.ts';
import type { ClientConfig } from '../admission/webhook.ts';
import type { Schema } from '../schema/schema.ts';
import type { AnyObject, PrinterColumn, ResourceType } from './resource-type.ts';

export type CrdNames = {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
};
type CrdVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
};
/** The parts of a CustomResourceDefinition that the server acts on. */
export type Crd = AnyObject & {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: CrdNames;
    readonly versions: readonly CrdVersion[];
    readonly conversion?: { readonly strategy?: string; readonly webhook?: { readonly clientConfig?: ClientConfig } };
  };
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[]; readonly storedVersions?: readonly string[] };
};

export const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** True once its names were accepted: only then is anything of it served. */
export function isEstablished(crd: Crd): boolean {
  return crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
}

export function customResourceTypes(crd: Crd, retired: AbortSignal): ResourceType[] {
  const { group, scope, names, versions, conversion } = crd.spec;
  const converter = conversion?.strategy === 'Webhook' ? conversion.webhook?.clientConfig : undefined;
  const stored = versions.find((version) => version.storage)?.name ?? '';
  return versions
    .filter((version) => version.served)
    .map((version): ResourceType => {
      const { status, scale } = version.subresources ?? {};
      return {
        group,
        version: version.name,
        plural: names.plural,
        singular: names.singular ?? names.kind.toLowerCase(),
        kind: names.kind,
        listKind: names.listKind ?? `${names.kind}List`,
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
        isNamespaced: scope === 'Namespaced',
        isBuiltIn: false,
        verbs: CUSTOM_VERBS,
        subresources: [...(status ? ['status'] : []), ...(scale ? ['scale'] : [])],
        schema: version.schema?.openAPIV3Schema,
        printerColumns: version.additionalPrinterColumns ?? [],
        scale: scale && {
          specReplicas: undotted(scale.specReplicasPath),
          statusReplicas: undotted(scale.statusReplicasPath),
          ...(scale.labelSelectorPath && { labelSelector: undotted(scale.labelSelectorPath) }),
        },
        storedApiVersion: `${group}/${stored}`,
        ...(converter && { converter }),
        nameSyntax: 'subdomain',
        hasGeneration: true,
        allowsUnconditionalUpdate: false,
        returnsDeleted: false,
        selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => undotted(jsonPath)),
        deprecationWarning: version.deprecated
          ? (version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated`)
          : undefined,
        strategy: {},
        retired,
      };
    });
}

/** CRD paths start with a dot; ours do not. */
function undotted(path: string): string {
  return path.startsWith('.') ? path.slice(1) : path;
}

/** True for a value that has at least the outline of a definition (it comes from the store, which has checked the rest). */
export function isCrd(value: unknown): value is Crd {
  return isObject(value) && value['kind'] === 'CustomResourceDefinition' && isObject(value['spec']);
}
