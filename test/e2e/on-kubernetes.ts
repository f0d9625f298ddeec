/**
 * Which tests of this folder run on a real Kubernetes as well, unchanged, and why the others do not. `runs`: in `npm run test:kubernetes`. `runs in soak`:
 * in `npm run test:soak`, and by name (`E2E_FILES=probes`); what they ask is answered by code that does not know which of the two clusters it is on, each
 * boots many guests, and the whole run must stay short enough to be waited for.
 */

/** By the name of the file. A new one needs a line here. */
export const ON_KUBERNETES: Readonly<Record<string, 'runs' | 'runs in soak' | `embedded only: ${string}`>> = {
  access: 'embedded only: it needs the keys and the port of the embedded API server; tenants.ts asks the same of a namespace admin',
  admission: 'embedded only: it takes the cluster down and up again',
  agent: 'runs',
  'bad-input': 'embedded only: it gives images names in the embedded store, and starts clusters on busy ports and without QEMU',
  board: 'runs in soak',
  'damaged-store': 'embedded only: it damages the store of an embedded cluster',
  'data-volumes':
    'embedded only: it kills the embedded process and serves a disk in its network; the same decisions are tested without a cluster',
  'every-command': 'embedded only: a list of the commands, without a cluster',
  exports: 'embedded only: it kills the embedded process, and asks at links that only an embedded cluster has; not tried on a real one yet',
  'first-five-minutes': 'embedded only: it is about virtctl up and down',
  'forgotten-guests': 'embedded only: it takes the store away from under running guests',
  'full-disk': 'embedded only: it fills the disk of an embedded cluster',
  'guest-endings': 'runs in soak',
  'guest-isolation': 'embedded only: it looks for the processes and files of embedded Pods; on a cluster the container stands between them',
  'guest-network': 'runs',
  helm: 'runs',
  'installed-package': 'embedded only: it is about virtctl up from a package',
  'instance-types': 'runs',
  'kill-nine': 'embedded only: it kills the embedded process; components.ts and nodes.ts kill what there is instead',
  migration: 'runs',
  'native-containers':
    'embedded only: it kills the embedded process and looks for containers of its own; a cluster has a container runtime',
  network: 'embedded only: it asks for NodePorts on the loopback; guest-network, first-vm.ts and tenants.ts use Services',
  nodes: 'embedded only: it starts nodes of an embedded cluster; nodes.ts has real ones',
  'pod-rights': 'runs',
  probes: 'runs in soak',
  'published-features': 'runs in soak',
  reboots: 'runs in soak',
  'replica-set': 'runs in soak',
  'run-images': 'embedded only: it brings disks into the embedded store; nodes of a cluster pull from registries',
  'seed-000': 'embedded only: seeds.ts replays the same transcript',
  'seed-001': 'embedded only: seeds.ts replays the same transcript',
  'seed-002': 'embedded only: seeds.ts replays the same transcript',
  'seed-003': 'embedded only: seeds.ts replays the same transcript',
  'seed-ancestors': 'runs in soak',
  'seed-machine': 'runs',
  shell: 'embedded only: its key is in the data folder of the embedded cluster; agent has ssh for both',
  'small-guest': 'embedded only: it gives an image another name in the embedded store',
  suspend: 'embedded only: not tried on a real one yet',
  'task-pages': 'embedded only: the pages are about the embedded cluster',
  'two-ups': 'embedded only: it is about virtctl up',
  uploads: 'embedded only: it kills the embedded process, and looks into its store of images',
  virtctl: 'embedded only: doctor and the log of the embedded process; looking.ts has what is for both',
  'virtctl-bad-moments': 'embedded only: it takes the embedded cluster away while commands run',
  'virtctl-installation': 'embedded only: it is about the clone and its tools; install.test.ts installs on a cluster',
  'virtctl-interrupted': 'embedded only: it is about virtctl up',
  'virtctl-run': 'embedded only: it looks into the folders of embedded volumes; looking.ts has the same for both',
  'virtctl-screens': 'runs in soak',
  vmctl: 'embedded only: its steps are written for both, and not tried on a real one yet; vmctl.ts has the examples',
  volumes: 'embedded only: it writes into the folder of an embedded volume; first-vm.ts has claims of both modes',
  'web-page':
    'embedded only: its test for both is not tried on a real one yet; page-for-many.ts signs in at a Pod there, and types into a console',
  'writes-per-start': "embedded only: it reads the embedded process's log; the cluster benchmark counts writes by the audit log",
};
