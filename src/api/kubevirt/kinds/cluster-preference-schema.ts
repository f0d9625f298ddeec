/** The schema of a VirtualMachineClusterPreference. */
export { preferenceSpecSchema as specSchema } from '../instancetype/preference-schema.ts';
