/** The schema of a VirtualMachineClusterInstancetype. */
export { instancetypeSpecSchema as specSchema } from '../instancetype/instancetype-schema.ts';
