/** What instances are made from: the template that a VirtualMachine, a replica set, an OfflineVirtualMachine and a configuration carry. */
import type { ObjectMeta } from '../meta.ts';
import { foreign, object, optional } from '../schema/dsl.ts';
import { vmiSpecSchema } from './vmi-spec-schema.ts';

export const instanceTemplateSchema = object('What instances are made from. Changes reach a running guest at its next start.', {
  metadata: optional(
    foreign<Partial<Pick<ObjectMeta, 'name' | 'generateName' | 'labels' | 'annotations'>>>('Labels and annotations of the instances.'),
  ),
  spec: vmiSpecSchema,
});
