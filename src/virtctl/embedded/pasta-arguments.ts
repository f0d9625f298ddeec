/** What pasta is told. Pure. */
import { UPSTREAM_DNS_ADDRESS } from '../../api/core/cluster-dns.ts';

type PastaInput = {
  readonly pagePort?: number | undefined;
  readonly isInNetwork: boolean;
};

/**
 * pasta copies the addresses of the interface that leads out, and refuses where none does. Connections go out by sockets of the host, so the way out is
 * there as soon as the host has one.
 */
const WITHOUT_A_NETWORK: readonly string[] = [
  ...['-i', 'lo', '-I', 'out0', '-a', '10.0.2.15', '-n', '24', '-g', '10.0.2.2'],
  ...['-M', '52:55:0a:00:02:02'], // the loopback has none to copy
];

/**
 * Out goes everything, in comes only the web page from the host's loopback; nothing inside reaches that loopback. The API and NodePorts have their
 * own ways in: pasta may keep the end of what is sent in its pipe for ever, when the receiver is slower than the sender.
 */
export function pastaArguments({ pagePort, isInNetwork }: PastaInput): string[] {
  const inwards = ['-t', pagePort === undefined ? 'none' : `127.0.0.1/${pagePort}`, '-u', 'none'];
  const addresses = isInNetwork ? [] : WITHOUT_A_NETWORK;
  const outwards = ['--config-net', '-4', ...addresses, '--no-map-gw', '-T', 'none', '-U', 'none', '--dns-forward', UPSTREAM_DNS_ADDRESS];
  return ['-f', '-q', ...outwards, ...inwards, '--no-netns-quit', '--netns', '/proc/self/fd/3'];
}
