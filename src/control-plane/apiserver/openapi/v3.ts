/** OpenAPI v3, one document per group and version: what kubectl validates, explains and chooses patch types by. */
import type { JsonObject } from '../../../base/json.ts';
import { componentSchemas } from './components.ts';
import { pathsOf } from './operations.ts';
import type { OpenApiResource } from './resource.ts';

export type { OpenApiResource } from './resource.ts';

/** The document of `api/v1` or `apis/GROUP/VERSION`, made of the resources that are served there. */
export function openApiV3Document(groupVersion: string, resources: readonly OpenApiResource[]): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: `Kubernetes ${groupVersion}`.trim(), version: 'unversioned' },
    paths: Object.assign({}, ...resources.map(pathsOf)),
    components: { schemas: componentSchemas(resources) },
  };
}
