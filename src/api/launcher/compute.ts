/** The container of a launcher Pod that becomes QEMU: its name, its program, its user. */

export const COMPUTE_CONTAINER = 'compute';

/** The program of its image, and what it is told to do. */
export const LAUNCHER_PROGRAM = 'virt-launcher';
export const LAUNCHER_COMMAND = 'prepare';

/** The user and group of QEMU, as upstream has them. */
export const QEMU_USER = 107;
