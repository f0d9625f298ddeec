/** The paths of a resource: which verb is where, with which parameters and bodies. kubectl decides from these what the server can do. */
import type { JsonObject } from '../../../base/json.ts';
import { DELETE_OPTIONS, PATCH, refTo, SCALE, STATUS, schemaName } from './components.ts';
import type { OpenApiResource } from './resource.ts';

const query = (name: string, type: 'string' | 'boolean' | 'integer' = 'string'): JsonObject => ({ name, in: 'query', schema: { type } });
const path = (name: string): JsonObject => ({ name, in: 'path', required: true, schema: { type: 'string' } });

const WRITE = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const LIST = [
  query('allowWatchBookmarks', 'boolean'),
  query('continue'),
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
  query('resourceVersionMatch'),
  query('sendInitialEvents', 'boolean'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];
const DELETE = [query('dryRun'), query('gracePeriodSeconds', 'integer'), query('orphanDependents', 'boolean'), query('propagationPolicy')];
const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC = 'application/strategic-merge-patch+json';
const BODY_TYPES = ['application/json', 'application/yaml'];

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
type Gvk = { readonly group: string; readonly version: string; readonly kind: string };

/** The paths of one resource, each with its operations. */
export function pathsOf(resource: OpenApiResource): JsonObject {
  const { group, version, plural, namespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const base = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const where = namespaced ? [path('namespace')] : [];
  return {
    ...(namespaced && { [`${root}/${plural}`]: { get: listOperation(resource, 'ForAllNamespaces') } }),
    [base]: { ...collectionOperations(resource), parameters: where },
    [`${base}/{name}`]: { ...itemOperations(resource), parameters: [...where, path('name')] },
    ...Object.fromEntries(
      Object.entries(subresourceOperations(resource)).map(([name, operations]) => [
        `${base}/{name}/${name}`,
        { ...operations, parameters: [...where, path('name')] },
      ]),
    ),
  };
}

/** Reading and writing the status, which has the shape of the whole, and the scale, which is a kind of its own. */
function subresourceOperations(resource: OpenApiResource): Record<string, JsonObject> {
  const own = refTo(schemaName(resource));
  const parts = [
    { name: 'status', schema: own, kind: resource, word: 'Status' },
    { name: 'scale', schema: refTo(SCALE), kind: SCALE_KIND, word: 'Scale' },
  ].filter(({ name }) => resource.subresources.includes(name));
  return Object.fromEntries(parts.map(({ name, schema, kind, word }) => [name, partOperations(resource, { schema, kind, word })]));
}

type Part = { readonly schema: JsonObject; readonly kind: Gvk; readonly word: string };

function partOperations(resource: OpenApiResource, { schema, kind, word }: Part): JsonObject {
  const { get, put, patch } = itemOperations(resource, schema) as Record<'get' | 'put' | 'patch', JsonObject>; // made just below
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const named = (operation: JsonObject) => ({
    ...operation,
    operationId: `${operation['operationId']}${word}`,
    'x-kubernetes-group-version-kind': gvk,
  });
  return { get: named(get), put: named(put), patch: named(patch) };
}

function collectionOperations(resource: OpenApiResource): JsonObject {
  const own = refTo(schemaName(resource));
  return {
    get: listOperation(resource, ''),
    post: operation(resource, { verb: 'create', action: 'post', parameters: WRITE, body: body(own, BODY_TYPES), answer: own }),
    delete: operation(resource, {
      verb: 'deleteCollection',
      action: 'deletecollection',
      parameters: [...DELETE, ...LIST.filter(({ name }) => name !== 'watch')],
      body: body(refTo(DELETE_OPTIONS), BODY_TYPES),
      answer: refTo(STATUS),
    }),
  };
}

function itemOperations(resource: OpenApiResource, own = refTo(schemaName(resource))): JsonObject {
  const patchTypes = resource.isBuiltIn ? [...PATCH_TYPES, STRATEGIC] : PATCH_TYPES;
  return {
    get: operation(resource, { verb: 'read', action: 'get', parameters: [query('resourceVersion')], answer: own }),
    put: operation(resource, { verb: 'replace', action: 'put', parameters: WRITE, body: body(own, BODY_TYPES), answer: own }),
    patch: operation(resource, {
      verb: 'patch',
      action: 'patch',
      parameters: [...WRITE, query('force', 'boolean')],
      body: body(refTo(PATCH), patchTypes),
      answer: own,
    }),
    delete: operation(resource, {
      verb: 'delete',
      action: 'delete',
      parameters: DELETE,
      body: body(refTo(DELETE_OPTIONS), BODY_TYPES),
      answer: refTo(STATUS),
    }),
  };
}

function listOperation(resource: OpenApiResource, scope: string): JsonObject {
  return operation(resource, { verb: 'list', action: 'list', parameters: LIST, answer: refTo(`${schemaName(resource)}List`), scope });
}

type Shape = {
  readonly verb: string;
  readonly action: string;
  readonly parameters: readonly JsonObject[];
  readonly body?: JsonObject;
  readonly answer: JsonObject;
  readonly scope?: string;
};

function operation(
  { group, version, kind, namespaced }: OpenApiResource,
  { verb, action, parameters, body, answer, scope = '' }: Shape,
): JsonObject {
  const where = namespaced && scope === '' ? 'Namespaced' : '';
  const code = action === 'post' ? '201' : '200';
  return {
    operationId: `${verb}${words(group === '' ? 'core' : group)}${words(version)}${where}${kind}${scope}`,
    parameters,
    ...(body && { requestBody: body }),
    responses: { [code]: { description: code === '201' ? 'Created' : 'OK', content: content(answer, BODY_TYPES) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

function body(schema: JsonObject, types: readonly string[]): JsonObject {
  return { content: content(schema, types) };
}

function content(schema: JsonObject, types: readonly string[]): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** `rbac.authorization.k8s.io` as a part of a name: RbacAuthorizationK8sIo. */
function words(text: string): string {
  return text.replace(/(?:^|[^a-z0-9])([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
}
