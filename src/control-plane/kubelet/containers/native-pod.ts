/** The native containers of one Pod: what is brought before they can start, how each is started and ended, and its open ports. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Container, EphemeralContainer, Pod, PodVolume, VolumeMount } from '../../../api/core/pod.ts';
import { SERVICES } from '../../../api/core/service.ts';
import { CONTAINER_PROGRAMS_FIX } from '../../../base/container-programs-fix.ts';
import { ApiError, messageOf } from '../../../base/errors.ts';
import { joinWords, removeCgroups } from '../../../base/node/cgroups.ts';
import { containerCgroup, makeContainerCgroup, removeContainerCgroups, wasOutOfMemory } from '../../../base/node/container-cgroups.ts';
import { processLimit } from '../../../base/node/container-limits.ts';
import { missingContainerPrograms } from '../../../base/node/container-programs.ts';
import type { PodUser } from '../../../base/node/pod-record.ts';
import { firstProcessOf, isInSandbox, readNumber, readPid } from '../../../base/node/pod-sandbox.ts';
import { type ProcessIdentity, signalProcess } from '../../../base/node/process-identity.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { ImageRoot } from '../../../images/root-filesystem.ts';
import { type BringImage, ImageError } from '../bring-image.ts';
import { findBuiltIn } from '../built-in-images.ts';
import { argumentsOf } from '../environment.ts';
import { ROOTS_FOLDER } from '../images-in-use.ts';
import type { KubeletContext } from '../kubelet-context.ts';
import { containerLogPath } from '../log-files.ts';
import type { Launch } from '../start-container.ts';
import { ExecProcess } from '../streams/exec-process.ts';
import { bundleDir, type ExecOptions, execWords, makeBundle, readExitCode, runWords, type SubPathMount, writeExecFiles } from './bundle.ts';
import { openStdin, stdinHolder } from './container-stdin.ts';
import { containerUserOf } from './container-user.ts';
import { answerOf } from './exec-answer.ts';
import { type IdMapping, idMappingFor, shiftOf, userWithin } from './id-mapping.ts';
import { nativeEnvironment } from './native-environment.ts';
import { hostnameOf, networkFilesOf } from './network-files.ts';
import { type Mount, ociConfigOf } from './oci-config.ts';
import { PodPorts } from './pod-ports.ts';
import { closeSandbox, findSandbox, openSandbox, SandboxError, sandboxEnvironment, sharedProcesses } from './sandbox.ts';
import { endProcessesLeft } from './shared-processes.ts';
import { whyNotNative } from './why-not-native.ts';

export type NativeOptions = { readonly context: KubeletContext; readonly dir: string };
type Volumes = ReadonlyMap<string, string>;
/** The places of its volumes, and who fetches images. */
type Given = { readonly volumes: Volumes } & Bringer;
type Bringer = { readonly bringImage: BringImage; readonly signal: AbortSignal };

const NETWORK_FILES = 'etc';
const NAME_SERVICE = { namespace: 'kube-system', name: 'kube-dns' };
const API_SERVICE = { namespace: 'default', name: 'kubernetes' };

export class NativePod {
  readonly #context: KubeletContext;
  readonly #dir: string;
  readonly #ports: PodPorts;
  #volumes: Volumes = new Map();
  #images = new Map<string, ImageRoot>();

  constructor({ context, dir }: NativeOptions) {
    this.#context = context;
    this.#dir = dir;
    this.#ports = new PodPorts(dir, context);
  }

  /** True for a container of an ordinary image. */
  isNative({ image = '' }: Container): boolean {
    return findBuiltIn(this.#context.builtInImages, image) === undefined;
  }

  has(pod: Pod): boolean {
    return containersOf(pod).some((each) => this.isNative(each));
  }

  /** The owner of what is made for the Pod; undefined when that is us. */
  user(): PodUser | undefined {
    const mapping = this.#mapping();
    return mapping.count === 1 ? undefined : { uid: mapping.uid, gid: mapping.gid, groups: [], of: 'containers', isRootInside: true };
  }

  /** Throws with the reason, and what can be done about it, when containers cannot run here or not as the Pod wants them. */
  assertPossible(pod: Pod): void {
    const why = whyNotNative(pod);
    if (why !== undefined) throw new SandboxError(why);
    const missing = missingContainerPrograms(process.env['PATH']);
    if (missing.length > 0)
      throw new SandboxError(`containers need ${missing.join(' and ')}, not installed on this machine; fix: ${CONTAINER_PROGRAMS_FIX}`);
    this.#mapping();
  }

  /** Brings images and network; can be repeated. */
  async prepare(pod: Pod, podIP: string, given: Given): Promise<void> {
    const { volumes, signal } = given;
    this.#volumes = volumes;
    for (const container of containersOf(pod)) {
      if (!this.isNative(container)) continue;
      this.#images.set(container.name, await this.#bringImage(pod, container, given));
    }
    const files = networkFilesOf(pod, podIP, await this.#clusterIP(NAME_SERVICE));
    const folder = join(this.#dir, NETWORK_FILES);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text);
      await chmod(join(folder, name), 0o644);
    }
    await openSandbox({ dir: this.#dir, podIP, mapping: this.#mapping(), sharesProcesses: sharesProcesses(pod), signal });
  }

  /** Brings the image of a container that was put beside the others; can be repeated. Throws with the reason when it cannot run here. */
  async bringEphemeral(pod: Pod, name: string, bringer: Bringer): Promise<void> {
    const container = pod.spec.ephemeralContainers?.find((each) => each.name === name);
    if (!container) throw new ApiError('Invalid', `the Pod has no container "${name}"`);
    if (!this.has(pod) || !this.isNative(container))
      throw new ApiError(
        'Invalid',
        'ephemeral containers run beside containers of ordinary images only, not in programs of the embedded cluster',
      );
    const why = whyNotNative({ ...pod, spec: { ...pod.spec, initContainers: [], containers: [container] } });
    if (why !== undefined) throw new SandboxError(why);
    this.#images.set(name, await this.#bringImage(pod, container, bringer));
  }

  hasImage(container: string): boolean {
    return this.#images.has(container);
  }

  /** Makes all that the next run needs but the process. */
  async plan(pod: Pod, container: Container, run: { readonly restartCount: number; readonly podIP: string }): Promise<Launch> {
    const image = this.#images.get(container.name);
    if (!image) throw new ApiError('InternalError', `the image of container ${container.name} was not brought`);
    this.signal(container.name, 'SIGKILL'); // crun may have been killed alone: what it left must not meet the next run
    const mapping = this.#mapping();
    endProcessesLeft({ dir: this.#dir, container: container.name, bundle: bundleDir(this.#dir, container.name) });
    const { signal } = this.#context;
    const sandbox = await openSandbox({ dir: this.#dir, podIP: run.podIP, mapping, sharesProcesses: sharesProcesses(pod), signal });
    const processNamespace = sharesProcesses(pod) ? sharedProcesses(sandbox) : this.#targetOf(container);
    const env = await this.#environment(pod, container, { ...run, image });
    const { Entrypoint = [], Cmd = [] } = image.config;
    const hasCommand = (container.command?.length ?? 0) > 0;
    const command = hasCommand ? (container.command ?? []) : Entrypoint;
    const words = container.args ?? (hasCommand ? [] : Cmd);
    const args = [...(hasCommand ? argumentsOf(command, env) : command), ...(container.args ? argumentsOf(words, env) : words)];
    if (args.length === 0) throw new ApiError('Invalid', 'no command specified');
    const user = userWithin(await containerUserOf({ pod, container, imageUser: image.config.User, root: image.path }), mapping);
    const { mounts, subPaths } = await this.#mountsOf(pod, container);
    const config = ociConfigOf({
      pod,
      container,
      image: image.config,
      user,
      args,
      env,
      hostname: hostnameOf(pod),
      mounts,
      holderPid: sandbox.holder.pid,
      processNamespace,
      hasOneUser: mapping.count === 1,
      maxProcesses: processLimit(),
    });
    const bundle = await makeBundle({
      dir: this.#dir,
      container: container.name,
      lower: image.path,
      config,
      subPaths: subPaths.length,
      mapping,
    });
    const cgroup = this.#makeCgroup(container, run.restartCount);
    const processes = processNamespace ? 'shared' : 'own';
    const [program = '', ...rest] = [...joinWords(cgroup), ...runWords(sandbox, mapping, bundle, { subPaths, container, processes })];
    return {
      program,
      args: rest,
      env: sandboxEnvironment(this.#dir, container.name),
      cwd: '/',
      logFile: containerLogPath(this.#dir, container.name, run.restartCount),
    };
  }

  /** Whose processes an ephemeral container sees; its own when it names nobody. */
  #targetOf({ targetContainerName: target }: EphemeralContainer): string | undefined {
    if (!target) return undefined;
    const first = firstProcessOf(this.#dir, target);
    if (!first) throw new ApiError('Invalid', `container ${target}, whose processes are to be seen, does not run`);
    return `/proc/${first.pid}/ns/pid`;
  }

  /** To the first process of a container, which decides what to do about it; false when there is none any more. */
  signal(container: string, signal: NodeJS.Signals): boolean {
    const first = firstProcessOf(this.#dir, container);
    return first ? signalProcess(first, signal) : false;
  }

  /** What the image says ends its containers. */
  stopSignal(container: string): NodeJS.Signals {
    const named = this.#images.get(container)?.config.StopSignal ?? 'SIGTERM';
    return (named.startsWith('SIG') ? named : 'SIGTERM') as NodeJS.Signals;
  }

  /** How a run ended that nobody of us saw. */
  exitCode(container: string): number | undefined {
    return readExitCode(bundleDir(this.#dir, container));
  }

  /** True when the last run of a container used up the memory that it may have. */
  wasOutOfMemory(container: string): boolean {
    const cgroups = this.#context.cgroups();
    return cgroups !== undefined && wasOutOfMemory(cgroups, { podDir: this.#dir, container });
  }

  /** False when the runtime could not even start it: then the log says why. */
  hasStarted(container: string): boolean {
    return readPid(bundleDir(this.#dir, container)) !== undefined;
  }

  /** True while a program can be started in it. */
  runs(container: string): boolean {
    return findSandbox(this.#dir) !== undefined && firstProcessOf(this.#dir, container) !== undefined;
  }

  /** What the others of a container end with; undefined when it does not run. */
  firstProcess(container: string): ProcessIdentity | undefined {
    return firstProcessOf(this.#dir, container);
  }

  /** A way to what a running container reads; BadRequest with the reason where it reads nothing. */
  openStdin(container: Container): Writable {
    return openStdin({ bundle: bundleDir(this.#dir, container.name), container, isOfPod: (pid) => isInSandbox(this.#dir, pid) });
  }

  /** True while it waits for somebody to tell it something, now or later. */
  hasOpenStdin(container: string): boolean {
    return stdinHolder({ bundle: bundleDir(this.#dir, container), isOfPod: (pid) => isInSandbox(this.#dir, pid) }) !== undefined;
  }

  /** Starts a program in a running container. */
  exec(container: string, options: ExecOptions): ExecProcess {
    const sandbox = findSandbox(this.#dir);
    if (!sandbox || !this.runs(container)) throw new ApiError('BadRequest', `container ${container} does not run`);
    const bundle = bundleDir(this.#dir, container);
    const { hasTerminal } = options;
    const files = writeExecFiles(bundle, options);
    const words = execWords(sandbox, this.#mapping(), bundle, { ...files, hasTerminal });
    const [program = '', ...args] = [...joinWords(this.#cgroupOf(container)), ...words];
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      env: sandboxEnvironment(this.#dir, `.exec-${container}`),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const readPid = () => {
      const pid = readNumber(files.pidFile);
      return pid !== undefined && isInSandbox(this.#dir, pid) ? pid : undefined;
    };
    return new ExecProcess({ child, hasTerminal, files: Object.values(files), readPid, clock: this.#context.clock });
  }

  /** What a program in a running container answers: undefined for a yes, the reason for a no. */
  async ask(container: string, command: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    return answerOf(this.exec(container, { command, hasTerminal: false }), signal);
  }

  /** Opens what somebody listens on now and closes the rest. */
  lookAround(podIP: string): void {
    const sandbox = findSandbox(this.#dir);
    if (sandbox) void this.#ports.follow(sandbox.holder.pid, podIP);
  }

  /** Nothing of it runs any more. */
  close(): void {
    closeSandbox(this.#dir);
  }

  /** After everything in it has ended. */
  async removeCgroup(container: string): Promise<void> {
    const cgroups = this.#context.cgroups();
    if (cgroups) await removeContainerCgroups(cgroups, { podDir: this.#dir, container }, this.#context.clock);
  }

  /** Holds the next run to the limits of its spec; none where there are no cgroups. */
  #makeCgroup({ name, resources }: Container, run: number): string[] {
    const cgroups = this.#context.cgroups();
    if (!cgroups) return [];
    removeCgroups(this.#cgroupOf(name)); // of the run before
    const limit = (of: string) => parseQuantity(resources?.limits?.[of] ?? '');
    const limits = { pids: processLimit(), memoryBytes: limit('memory'), cores: limit('cpu') };
    return makeContainerCgroup(cgroups, { podDir: this.#dir, container: name, run }, limits);
  }

  #cgroupOf(container: string): string[] {
    const cgroups = this.#context.cgroups();
    return cgroups ? containerCgroup(cgroups, { podDir: this.#dir, container }) : [];
  }

  #mapping(): IdMapping {
    const mapping = idMappingFor(this.#context.mayBecome);
    if (!mapping) throw new SandboxError('containers need 40000 users of their own, which this machine does not give us');
    return mapping;
  }

  async #bringImage(pod: Pod, { image = '', imagePullPolicy }: Container, { bringImage, signal }: Bringer): Promise<ImageRoot> {
    const { images, rootDir, events } = this.#context;
    if (await bringImage(image, imagePullPolicy))
      events.record(pod, { type: 'Normal', reason: 'Pulled', message: `Container image "${image}" already present on machine` });
    try {
      if (!images.root) throw new ApiError('NotFound', 'there is no store of images');
      return await images.root(image, { into: join(rootDir, ROOTS_FOLDER), shift: shiftOf(this.#mapping()), signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new ImageError(image, messageOf(error), { cause: error });
    }
  }

  async #environment(
    pod: Pod,
    container: Container,
    { podIP, image }: { podIP: string; image: ImageRoot },
  ): Promise<Record<string, string>> {
    const { hostIP, client } = this.#context;
    const pairs = (image.config.Env ?? []).map((each) => [each.split('=', 1)[0] ?? '', each.slice(each.indexOf('=') + 1)] as const);
    const api = await this.#clusterIP(API_SERVICE);
    const inherited = {
      HOSTNAME: hostnameOf(pod),
      ...Object.fromEntries(pairs),
      ...(api && { KUBERNETES_SERVICE_HOST: api, KUBERNETES_SERVICE_PORT: '443', KUBERNETES_SERVICE_PORT_HTTPS: '443' }),
    };
    return nativeEnvironment({ container, fields: { pod, podIP, hostIP }, client, inherited });
  }

  async #clusterIP(service: { readonly namespace: string; readonly name: string }): Promise<string | undefined> {
    const found = await this.#context.client.get(SERVICES, service).catch(() => undefined); // a node may not be allowed to ask
    const address = found?.spec.clusterIP;
    return address === 'None' ? undefined : address;
  }

  async #mountsOf(pod: Pod, container: Container): Promise<{ mounts: Mount[]; subPaths: SubPathMount[] }> {
    const subPaths: SubPathMount[] = [];
    const own = (['hosts', 'hostname', 'resolv.conf'] as const).map((name) => ({
      source: join(this.#dir, NETWORK_FILES, name),
      destination: `/etc/${name}`,
      isReadOnly: false,
    }));
    const mounts: Mount[] = [];
    for (const mount of container.volumeMounts ?? []) {
      const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
      const path = this.#volumes.get(mount.name);
      if (!volume || path === undefined) throw new ApiError('Invalid', `volume "${mount.name}" is mounted but not defined`);
      mounts.push(await this.#mountOf(mount, { container, volume, path: await realpath(path), subPaths }));
    }
    return { mounts: [...own, ...mounts.sort((a, b) => a.destination.length - b.destination.length)], subPaths };
  }

  async #mountOf(
    mount: VolumeMount,
    { container, volume, path, subPaths }: { container: Container; volume: PodVolume; path: string; subPaths: SubPathMount[] },
  ): Promise<Mount> {
    const isMade = volume.configMap || volume.secret || volume.downwardAPI || volume.projected || volume.image;
    const isReadOnly = mount.readOnly === true || isMade !== undefined || volume.persistentVolumeClaim?.readOnly === true;
    const destination = mount.mountPath;
    if (!destination.startsWith('/') || destination.split('/').includes('..') || destination.includes('\0'))
      throw new ApiError('Invalid', `mountPath ${JSON.stringify(destination)} is not usable`);
    if (!mount.subPath) return { source: path, destination, isReadOnly };
    const parts = mount.subPath.split('/').filter((part) => part !== '' && part !== '.');
    if (mount.subPath.startsWith('/') || parts.includes('..'))
      throw new ApiError('Invalid', `subPath ${JSON.stringify(mount.subPath)} is not usable`);
    if (isMade) return { source: await realpathWithin(path, join(path, ...parts)), destination, isReadOnly }; // no container writes there
    subPaths.push({ volume: path, subPath: parts.join('/') });
    return { source: join(bundleDir(this.#dir, container.name), 'volumes', String(subPaths.length - 1)), destination, isReadOnly };
  }
}

/** What an image or a Secret is made of was somebody's to choose. */
async function realpathWithin(folder: string, path: string): Promise<string> {
  const found = await realpath(path);
  if (found === folder || found.startsWith(`${folder}/`)) return found;
  throw new ApiError('Invalid', `subPath ${JSON.stringify(path.slice(folder.length + 1))} leads out of its volume`);
}

function sharesProcesses({ spec }: Pod): boolean {
  return spec.shareProcessNamespace === true;
}

function containersOf({ spec }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}
