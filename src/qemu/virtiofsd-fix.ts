/** What brings the program that shares folders with guests. */
export const VIRTIOFSD_FIX = 'apt-get install virtiofsd (Debian 12 and Ubuntu 22.04: qemu-system-common has it)';
