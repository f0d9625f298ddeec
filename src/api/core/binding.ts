/** Binding: how a scheduler says which node a Pod runs on. */
import type { KubeObject } from '../meta.ts';

export type Binding = KubeObject & { readonly kind: 'Binding'; readonly target: { readonly kind: 'Node'; readonly name: string } };
