/** The schema of a VirtualMachineInstancePreset: the parts of a machine that presets give. */
import { object, optional } from '../../schema/dsl.ts';
import { labelSelectorSchema } from '../label-selector-schema.ts';
import { domainSchema } from '../vmi-spec-schema.ts';

const { clock, cpu, features, firmware, ioThreadsPolicy, resources, devices } = domainSchema.properties;
const { watchdog } = devices.properties;
const { requests } = resources.properties;

export const specSchema = object('What instances with certain labels are given.', {
  selector: labelSelectorSchema('Which instances, by their labels; an empty selector means all of the namespace.'),
  domain: optional(
    object('What they are given where they say nothing themselves. Required, although the definition does not say it, as published.', {
      clock,
      cpu,
      devices: { ...object('Devices.', { watchdog }), default: {} }, // required in the published types, left out in the published examples
      features,
      firmware,
      ioThreadsPolicy,
      resources: optional(object('What the Pod asks for.', { requests })),
    }),
  ),
});
