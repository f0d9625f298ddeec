/** The screen of a guest, as a VNC server on a port of this machine that a viewer connects to. */
import { spawn } from 'node:child_process';
import { MOVED_CODE } from '../../../api/handler/moved.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError, messageOf, UserError } from '../../../base/errors.ts';
import { findProgram } from '../../../base/node/find-program.ts';
import type { ClusterDeps, Connection } from '../../deps.ts';
import { serveTcp } from '../../forward/serve-tcp.ts';
import { vmName } from '../../vm-target.ts';
import { type ScreenshotFlags, saveScreenshot } from './screenshot.ts';

type VncFlags = ScreenshotFlags & {
  readonly proxyOnly: boolean;
  readonly address: string;
  readonly port: number;
  readonly preserveSession: boolean;
  readonly viewOnly: boolean;
  readonly vncType?: 'remote-viewer' | 'vncviewer' | 'gvncviewer';
  readonly vncPath?: string;
};
type OpenFlags = Pick<VncFlags, 'preserveSession' | 'viewOnly'> & { readonly onClosed: (code: number) => void };
type Viewer = readonly [program: string, target: (address: string, port: number) => string];

/** Viewers that we know how to start, the first that is installed wins. */
const VIEWERS: readonly Viewer[] = [
  ['remote-viewer', (address, port) => `vnc://${address}:${port}`],
  ['vncviewer', (address, port) => `${address}::${port}`],
  ['gvncviewer', (address, port) => `${address}::${port}`],
];

export async function run(deps: ClusterDeps, flags: VncFlags, ...words: string[]): Promise<void> {
  const [first, second] = words;
  if (first === 'screenshot' && second !== undefined) return saveScreenshot(deps, flags, vmName('vnc screenshot', words.slice(1)));
  const name = vmName('vnc', words);
  await mustBeThere(deps, name);
  const { stdout, stderr, env } = deps;
  const viewer = flags.proxyOnly ? undefined : findViewer(env['PATH'], flags);
  let hasMoved = false;
  const onClosed = (code: number) => {
    if (code !== MOVED_CODE) return;
    hasMoved = true;
    stderr.write(`${name} continues at another node; its screen is there for whoever connects again\n`);
  };
  const { port, closed } = await serveTcp({
    address: flags.address,
    port: flags.port,
    open: () => openScreen(deps, name, { ...flags, onClosed }),
    signal: deps.signal,
    onRefused: (error) => stderr.write(`cannot show the screen of ${name}: ${messageOf(error)}\n`),
  });
  if (!viewer) {
    stdout.write(`${JSON.stringify({ port })}\n`);
    await closed;
    return;
  }
  const [program, target] = viewer;
  // A viewer ends with its connection. One whose machine has moved is shown again.
  do {
    hasMoved = false;
    await ended(program, target(flags.address, port));
  } while (hasMoved);
  deps.exit(0); // the port still listens
}

async function mustBeThere({ client, namespace }: Connection, name: string): Promise<void> {
  if (!(await client.get(VMIS, { namespace, name })))
    throw new ApiError('NotFound', `there is no running machine "${name}" in namespace ${namespace}`);
}

/** Beside other viewers of ours, of whom the newest has keys and pointer; one that preserves a session is alone, or refused. */
function openScreen({ openStream, namespace }: Connection, name: string, { preserveSession, viewOnly, onClosed }: OpenFlags) {
  const wish = preserveSession ? { preserveSession } : { shared: true, ...(viewOnly && { write: false }) };
  return openStream(subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'vnc', wish), onClosed);
}

function findViewer(path: string | undefined, { vncType, vncPath }: VncFlags): Viewer {
  const wanted = VIEWERS.filter(([program]) => vncType === undefined || program === vncType);
  const [, target] = wanted[0] ?? ['', (address: string, port: number) => `${address}::${port}`];
  if (vncPath !== undefined) return [vncPath, target];
  const found = wanted.find(([program]) => findProgram(program, path));
  if (found) return found;
  throw new UserError('VIEWER_MISSING', 'there is no VNC viewer on this machine', {
    why: `none of ${(vncType ? [vncType] : VIEWERS.map(([program]) => program)).join(', ')} is on PATH`,
    fix: 'install one (apt-get install virt-viewer), or add --proxy-only and connect a viewer of your own to the port',
    exitCode: 7,
  });
}

function ended(program: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [target], { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}
