/** Pod Security "baseline": what no Pod may ask for, because it would reach beyond its own container. Texts are those of Kubernetes. */
import type { Container, Pod, SecurityContext } from '../../../api/core/pod.ts';
import { allContainers, naming, type Violation } from './violation.ts';

/** The fields of the published type that matter here and nowhere else. */
type HostFields = { readonly hostNetwork?: boolean; readonly hostPID?: boolean; readonly hostIPC?: boolean };
type Profile = { readonly type?: string };
export type FullSecurityContext = SecurityContext & {
  readonly procMount?: string;
  readonly appArmorProfile?: Profile;
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
};

const CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const SELINUX_TYPES = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);
const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Every rule of the level that the Pod breaks. */
export function baselineViolations(pod: Pod): Violation[] {
  return [
    hostNamespaces(pod),
    privileged(pod),
    capabilities(pod),
    hostPathVolumes(pod),
    hostPorts(pod),
    appArmor(pod),
    seLinux(pod),
    procMount(pod),
    seccomp(pod),
    sysctls(pod),
    hostProcess(pod),
    otherHosts(pod),
  ].flat();
}

function hostNamespaces({ spec }: Pod): Violation[] {
  const { hostNetwork, hostPID, hostIPC } = spec as HostFields;
  const used = Object.entries({ hostNetwork, hostPID, hostIPC }).filter(([, isUsed]) => isUsed);
  return used.length > 0 ? [`host namespaces (${used.map(([name]) => `${name}=true`).join(', ')})`] : [];
}

function privileged(pod: Pod): Violation[] {
  const found = allContainers(pod).filter(({ securityContext }) => securityContext?.privileged);
  return found.length > 0 ? [`privileged (${naming(found)} must not set securityContext.privileged=true)`] : [];
}

function capabilities(pod: Pod): Violation[] {
  const added = ({ securityContext }: Container) => (securityContext?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.has(name));
  const found = allContainers(pod).filter((container) => added(container).length > 0);
  const names = [...new Set(found.flatMap(added))].map((name) => JSON.stringify(name)).join(', ');
  return found.length > 0
    ? [`non-default capabilities (${naming(found)} must not include ${names} in securityContext.capabilities.add)`]
    : [];
}

function hostPathVolumes({ spec }: Pod): Violation[] {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => JSON.stringify(name));
  return names.length > 0 ? [`hostPath volumes (volume${names.length > 1 ? 's' : ''} ${names.join(', ')})`] : [];
}

function hostPorts(pod: Pod): Violation[] {
  const found = allContainers(pod).filter(({ ports = [] }) => ports.some(({ hostPort }) => hostPort));
  return found.length > 0 ? [`hostPort (${naming(found)} must not use hostPorts)`] : [];
}

function appArmor(pod: Pod): Violation[] {
  const isBad = (context: FullSecurityContext | undefined) =>
    !['RuntimeDefault', 'Localhost', undefined].includes(context?.appArmorProfile?.type);
  const annotated = Object.entries(pod.metadata.annotations ?? {}).filter(
    ([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && value !== 'runtime/default' && !value.startsWith('localhost/') && value !== '',
  );
  return contextsOf(pod).some(isBad) || annotated.length > 0 ? ['forbidden AppArmor profile'] : [];
}

function seLinux(pod: Pod): Violation[] {
  const isBad = (context: FullSecurityContext | undefined) => {
    const { type = '', user = '', role = '' } = context?.seLinuxOptions ?? {};
    return !SELINUX_TYPES.has(type) || user !== '' || role !== '';
  };
  return contextsOf(pod).some(isBad) ? ['seLinuxOptions'] : [];
}

function procMount(pod: Pod): Violation[] {
  return contextsOf(pod).some((context) => (context?.procMount ?? 'Default') !== 'Default') ? ['procMount'] : [];
}

function seccomp(pod: Pod): Violation[] {
  return contextsOf(pod).some((context) => context?.seccompProfile?.type === 'Unconfined')
    ? ['seccompProfile (must not set securityContext.seccompProfile.type to "Unconfined")']
    : [];
}

function sysctls({ spec }: Pod): Violation[] {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !SYSCTLS.has(name));
  return names.length > 0 ? [`forbidden sysctls (${names.join(', ')})`] : [];
}

function hostProcess(pod: Pod): Violation[] {
  return contextsOf(pod).some((context) => context?.windowsOptions?.hostProcess) ? ['hostProcess'] : [];
}

/** The kubelet asks, and reaches more than the Pod does: the loopback, metadata services, other Pods. */
function otherHosts(pod: Pod): Violation[] {
  const found = allContainers(pod).filter((container) => hostsIn(container).length > 0);
  const names = [...new Set(found.flatMap(hostsIn))].map((host) => JSON.stringify(host)).join(', ');
  return found.length > 0 ? [`probe or lifecycle host (${naming(found)} must not have ${names} asked, only itself)`] : [];
}

function hostsIn({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  const actions = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return actions.flatMap((action) => [action?.httpGet?.host || [], action?.tcpSocket?.host || []].flat());
}

/** Of the Pod and of each container: the schema has checked their shape. */
function contextsOf(pod: Pod): (FullSecurityContext | undefined)[] {
  return [pod.spec.securityContext, ...allContainers(pod).map(({ securityContext }) => securityContext)];
}
