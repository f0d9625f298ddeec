/** Which folders of nodes machines may have disks in, by files of nodes (`hostDisk`). Pure. */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

/** KubeVirt's gate. It alone allows nothing here: the folders have to be named, too. */
export const GATE_HOST_DISK = 'HostDisk';

export type HostDiskFolder = {
  /** On every node where such machines run. */
  readonly path: string;
  /** Whose machines; those of all namespaces when not given. */
  readonly namespaces?: readonly string[];
};

/** Where the system has its own files: no disk of a machine is there, and much that is worth more. */
const SYSTEM = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'usr'];

/** Those of one namespace; undefined where there is no gate. */
export function hostDiskFoldersFor(
  folders: readonly HostDiskFolder[] | undefined,
  namespace: string | undefined,
): readonly HostDiskFolder[] | undefined {
  return folders?.filter(({ namespaces }) => !namespaces || namespaces.includes(namespace ?? ''));
}

/** Every reason to refuse the folders of a KubeVirt object. */
export function hostDiskFolderCauses(folders: readonly HostDiskFolder[], field: string): StatusCause[] {
  return folders.flatMap(({ path }, index) => {
    const [root, ...names] = path.split('/');
    const isPlain = root === '' && names.every((name) => name !== '' && name !== '.' && name !== '..');
    const isSystem = SYSTEM.includes(names[0] ?? '') || path === '/var' || path.startsWith('/var/run');
    if (isPlain && !isSystem) return [];
    return [
      invalidCause(`${field}[${index}].path`, path, 'must be the absolute path of a folder that is not of the system, without . and ..'),
    ];
  });
}
