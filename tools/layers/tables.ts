/** The architecture as tables: who may import whom, what must be pure, what must run in a browser, and who owns which npm package. A change here needs an ADR. */

const CORE = ['base', 'api'];
const LOOP = [...CORE, 'client', 'reconcile'];
const SERVER = [...LOOP, 'base/node', 'client/node'];

/** The longest matching prefix wins. A folder may always import itself. Folders of one layer meet at the API, not by import. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  'base/node': ['base'],
  api: ['base'],
  qemu: [...CORE, 'base/node'],
  images: [...CORE, 'base/node'],
  client: CORE,
  'client/node': [...CORE, 'base/node', 'client'],
  reconcile: [...CORE, 'client'],
  sdk: [...CORE, 'client'],
  'sdk/node': [...CORE, 'base/node', 'client', 'client/node', 'sdk'],
  'control-plane/store': [...CORE, 'base/node'],
  'control-plane/apiserver': [...CORE, 'base/node', 'control-plane/store'],
  'control-plane/scheduler': LOOP,
  'control-plane/garbage-collector': LOOP,
  'control-plane/node-lifecycle': LOOP,
  'control-plane/service-accounts': LOOP,
  'control-plane/workloads': LOOP,
  'control-plane/volumes': [...LOOP, 'base/node'],
  'control-plane/services': [...LOOP, 'base/node'],
  'control-plane/dns': [...LOOP, 'base/node'],
  'control-plane/kubelet': [...LOOP, 'base/node', 'images'],
  'virt-api': [...SERVER, 'qemu'],
  'virt-controller': LOOP,
  'virt-handler': [...SERVER, 'qemu'],
  'virt-operator': SERVER,
  'virt-launcher': [...CORE, 'base/node', 'qemu', 'images'],
  vmctl: SERVER,
  virtctl: [...CORE, 'base/node', 'client', 'client/node', 'images', 'qemu', 'sdk', 'ui-server'],
  ui: [...CORE, 'client', 'sdk'],
  'ui-server': [...CORE, 'base/node', 'client', 'client/node'],
  testing: [...CORE, 'client', 'reconcile'],
  cmd: ['*'],
};

/** Folders that must also run in a browser: nothing from Node, neither a module nor a global. */
export const BROWSER_SAFE = ['base', 'api', 'client', 'reconcile', 'sdk', 'ui'];

/** npm packages and the folders that may use them. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  typebox: ['api'],
  yaml: ['control-plane/apiserver', 'client/node', 'virtctl', 'virt-api', 'cmd', 'ui'],
  preact: ['ui'],
  '@xterm/xterm': ['ui'],
  '@xterm/addon-fit': ['ui'],
  '@novnc/novnc': ['ui'],
  '@codemirror/autocomplete': ['ui'],
  '@codemirror/commands': ['ui'],
  '@codemirror/lang-yaml': ['ui'],
  '@codemirror/language': ['ui'],
  '@codemirror/state': ['ui'],
  '@codemirror/view': ['ui'],
  '@lezer/highlight': ['ui'],
  'fast-json-patch': ['control-plane/apiserver', 'virt-operator'],
  re2js: ['control-plane/apiserver'],
  '@marcbachmann/cel-js': ['control-plane/apiserver'],
  ws: ['client/node', 'control-plane/kubelet', 'ui-server', 'virt-api', 'virt-handler'],
  '@peculiar/x509': ['base/node'],
  'reflect-metadata': ['base/node'],
  'prom-client': ['base/node'],
  'tar-stream': ['images'],
  '@stricli/core': ['virtctl', 'cmd'],
  'fast-check': [],
};

/** Files whose answer follows from their arguments alone. Whatever they reach when they run is held to the same. */
export const PURE_FILE = /^api\/|(^|\/)(decide[^/]*|derive[^/]*|status|validate-[^/]+|default-[^/]+)\.ts$|\/convert\/[^/]+\.ts$/;

/** Folders whose files speak to somebody, whatever their code looks like; unless their name says that they are pure. */
export const NEVER_PURE = ['client', 'base/node', 'client/node'];

/** Packages, and questions of Node's modules, whose answers follow from their arguments. */
export const PURE_IMPORTS: Readonly<Record<string, 'all' | readonly string[]>> = {
  typebox: 'all',
  re2js: 'all',
  'node:net': ['isIP', 'isIPv4', 'isIPv6'],
};

/** What the engine offers and one file alone may use: it knows the limits that others would forget. By pattern. */
export const ONE_USER: Readonly<Record<string, string>> = {
  'AbortSignal\\.timeout': 'base/timeout-signal.ts',
};

/** How many lines a file may have; tests and tables twice as many. */
export const MAX_LINES = 400;
