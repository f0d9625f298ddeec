/** The schema of a VirtualMachineInstancetype. */
export { instancetypeSpecSchema as specSchema } from '../instancetype/instancetype-schema.ts';
