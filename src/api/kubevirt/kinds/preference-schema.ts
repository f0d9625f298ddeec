/** The schema of a VirtualMachinePreference. */
export { preferenceSpecSchema as specSchema } from '../instancetype/preference-schema.ts';
