/** What the OpenAPI documents are made of: the served resources and their schemas. */
import type { Schema } from '../schema/schema.ts';

export type OpenApiResource = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly schema: Schema;
  /** Those among `status` and `scale` that it has. */
  readonly subresources: readonly string[];
  /** Built-in kinds take strategic merge patches, CRDs never do: kubectl picks the patch type from the document. */
  readonly isBuiltIn: boolean;
};
