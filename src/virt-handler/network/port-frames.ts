/**
 * The question at which ports a guest takes connections, as frames on its network, and its answers. The question is the first packet of a
 * connection (SYN) from the gateway, and one for the hardware address of the guest (ARP). Whoever listens answers SYN+ACK; the user network,
 * which knows of no such connection, then resets it, so no program in the guest ever sees one. Pure.
 */
import type { PodCard } from '../../qemu/convert/network.ts';

export type PortsQuestion = PodCard & {
  /** Where the answers come back to: another one each time, so that nothing old is taken for an answer. */
  readonly sourcePort: number;
  readonly ports: readonly number[];
};
export type PortsAnswer = {
  /** The guest said something, whatever it was. */
  readonly isThere: boolean;
  /** The hardware address that it answers from. */
  readonly mac?: string;
  readonly takes: ReadonlySet<number>;
  readonly refuses: ReadonlySet<number>;
};

const ARP = 0x0806;
const IPV4 = 0x0800;
const TCP = 6;
const SYN = 0x02;
const RST = 0x04;
const ACK = 0x10;
const BROADCAST = 'ff:ff:ff:ff:ff:ff';
const [ETHERNET_BYTES, IPV4_BYTES, TCP_BYTES, ARP_BYTES] = [14, 20, 20, 28];

/** All frames of a question, each behind its length, as QEMU's filters read them. */
export function questionBytes(question: PortsQuestion): Buffer {
  const frames = [arpRequest(question), ...question.ports.map((port) => synFrame(question, port))];
  return Buffer.concat(frames.flatMap((frame) => [uint32(frame.length), frame]));
}

/**
 * What the guest answered, in what it sent to its gateway meanwhile. Lengths are not believed: of a guest that sends much, only the last part
 * is there. A guest that forges answers lies about its own ports alone.
 */
export function answerIn(bytes: Buffer, { gateway, guest, sourcePort, ports }: PortsQuestion): PortsAnswer {
  const [to, from, us] = [bytesOfMac(gatewayMac(gateway)), bytesOfAddress(guest), bytesOfAddress(gateway)];
  const asked = new Set(ports);
  const [takes, refuses] = [new Set<number>(), new Set<number>()];
  let isThere = false;
  let mac: string | undefined;
  for (let at = bytes.indexOf(to); at !== -1; at = bytes.indexOf(to, at + 1)) {
    const frame = bytes.subarray(at);
    if (isArpFrom(frame, from)) {
      isThere = true;
      mac = macIn(frame.subarray(22, 28));
    } else if (isIpFrom(frame, from)) {
      isThere = true;
      if (frame[23] !== TCP) continue;
      const tcp = frame.subarray(ETHERNET_BYTES + IPV4_BYTES);
      const [port, flags] = [tcp.readUInt16BE(0), tcp[13] ?? 0];
      const isAnswer = frame.subarray(30, 34).equals(us) && tcp.readUInt16BE(2) === sourcePort && asked.has(port);
      if (isAnswer && (flags & (SYN | ACK)) === (SYN | ACK)) takes.add(port);
      if (isAnswer && flags & RST) refuses.add(port);
    }
  }
  return { isThere, ...(mac !== undefined && { mac }), takes, refuses };
}

/** Whether nothing more is to come. */
export function isComplete({ isThere, takes, refuses }: PortsAnswer, { ports }: PortsQuestion): boolean {
  return isThere && takes.size + refuses.size >= ports.length;
}

function arpRequest({ gateway, guest }: PortsQuestion): Buffer {
  const body = Buffer.concat([
    Buffer.from([0, 1, 8, 0, 6, 4, 0, 1]),
    bytesOfMac(gatewayMac(gateway)),
    bytesOfAddress(gateway),
    Buffer.alloc(6),
    bytesOfAddress(guest),
  ]);
  return ethernet({ to: BROADCAST, from: gatewayMac(gateway), type: ARP }, body);
}

function synFrame({ gateway, guest, mac, sourcePort }: PortsQuestion, port: number): Buffer {
  const [from, to] = [bytesOfAddress(gateway), bytesOfAddress(guest)];
  const tcp = Buffer.alloc(TCP_BYTES);
  tcp.writeUInt16BE(sourcePort, 0);
  tcp.writeUInt16BE(port, 2);
  tcp.writeUInt32BE((sourcePort << 16) >>> 0, 4);
  tcp[12] = (TCP_BYTES / 4) << 4;
  tcp[13] = SYN;
  tcp.writeUInt16BE(1024, 14); // the window
  tcp.writeUInt16BE(checksum(Buffer.concat([from, to, Buffer.from([0, TCP, 0, TCP_BYTES]), tcp])), 16);
  const ip = Buffer.alloc(IPV4_BYTES);
  ip[0] = 0x45;
  ip.writeUInt16BE(IPV4_BYTES + TCP_BYTES, 2);
  ip[8] = 64; // hops
  ip[9] = TCP;
  from.copy(ip, 12);
  to.copy(ip, 16);
  ip.writeUInt16BE(checksum(ip), 10);
  return ethernet({ to: mac, from: gatewayMac(gateway), type: IPV4 }, Buffer.concat([ip, tcp]));
}

function isArpFrom(frame: Buffer, address: Buffer): boolean {
  if (frame.length < ETHERNET_BYTES + ARP_BYTES || frame.readUInt16BE(12) !== ARP) return false;
  return frame.subarray(28, 32).equals(address);
}

/** Without options, as answers to our question are. */
function isIpFrom(frame: Buffer, address: Buffer): boolean {
  if (frame.length < ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES || frame.readUInt16BE(12) !== IPV4) return false;
  return frame[14] === 0x45 && frame.subarray(26, 30).equals(address);
}

/** The user network gives its own addresses hardware addresses that follow from them. */
function gatewayMac(gateway: string): string {
  return macIn(Buffer.concat([Buffer.from([0x52, 0x55]), bytesOfAddress(gateway)]));
}

function ethernet({ to, from, type }: { to: string; from: string; type: number }, body: Buffer): Buffer {
  return Buffer.concat([bytesOfMac(to), bytesOfMac(from), Buffer.from([type >> 8, type & 0xff]), body]);
}

function bytesOfMac(mac: string): Buffer {
  return Buffer.from(mac.replaceAll(':', ''), 'hex');
}

function macIn(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

function bytesOfAddress(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
