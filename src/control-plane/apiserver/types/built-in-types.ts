/** The built-in kinds table as resource types, each with its schema and its own rules. */
import { apiVersionOf } from '../../../api/resource.ts';
import { builtInSchema } from '../schema/built-in.ts';
import { BUILT_IN_KINDS, type BuiltInKind } from './built-in-kinds-table.ts';
import { CUSTOM_VERBS } from './custom-resource-types.ts';
import type { ResourceType, Strategy } from './resource-type.ts';

/** `strategies` are looked up by `group/plural` (`core/pods`). */
export function builtInTypes(strategies: Readonly<Record<string, Strategy>>, kinds = BUILT_IN_KINDS): ResourceType[] {
  const never = new AbortController().signal;
  return kinds.map((kind) => typeOf(kind, strategies[`${kind.group || 'core'}/${kind.plural}`] ?? {}, never));
}

function typeOf(kind: BuiltInKind, strategy: Strategy, retired: AbortSignal): ResourceType {
  return {
    group: kind.group,
    version: kind.version,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    isNamespaced: !kind.isClusterWide,
    isBuiltIn: true,
    verbs: kind.verbs ?? (kind.isReview ? ['create'] : kind.isMeasured ? ['get', 'list'] : CUSTOM_VERBS),
    subresources: kind.subresources ?? [],
    schema: schemaOf(kind),
    printerColumns: undefined,
    scale: kind.scale,
    storedApiVersion: kind.sharedStorage?.apiVersion ?? apiVersionOf(kind),
    sharedStorage: kind.sharedStorage,
    nameSyntax: kind.nameSyntax ?? 'subdomain',
    hasGeneration: kind.hasGeneration ?? false,
    allowsUnconditionalUpdate: kind.plural !== 'leases' && kind.plural !== 'customresourcedefinitions' && kind.plural !== 'apiservices',
    returnsDeleted: kind.returnsDeleted ?? false,
    selectableFields: kind.selectableFields ?? [],
    deprecationWarning: undefined,
    strategy,
    retired,
  };
}

/** An object that was written as the other kind need not have what this one asks of new ones. */
function schemaOf({ group, version, kind, sharedStorage }: BuiltInKind): ResourceType['schema'] {
  const schema = builtInSchema(group, version, kind);
  return schema && sharedStorage ? { ...schema, required: [] } : schema;
}
