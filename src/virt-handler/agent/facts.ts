/** What an agent may tell of its guest, and how its answers are read. Pure. Anything wrong is left out, anything long is cut. */
import { isIP } from 'node:net';
import type { GuestFileSystem, GuestOsInfo, GuestUser } from '../../api/handler/answers.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { readable } from './readable.ts';

export type GuestNic = { readonly interfaceName: string; readonly mac: string; readonly ipAddresses: readonly string[] };
export type AgentVersion = { readonly version: string; readonly commands: readonly { readonly name: string; readonly enabled: boolean }[] };

const MOST_NICS = 32;
const MOST_ADDRESSES = 16;
const MOST_USERS = 256;
const MOST_FILE_SYSTEMS = 256;
const MOST_COMMANDS = 256;
const LONGEST_WORD = 128;
const LONGEST_PATH = 1024;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;
const INTERFACE_NAME = /^[\x21-\x7e][\x20-\x7e]{0,62}$/;

const OS_FIELDS: readonly (readonly [keyof GuestOsInfo, string])[] = [
  ['name', 'name'],
  ['kernelRelease', 'kernel-release'],
  ['version', 'version'],
  ['prettyName', 'pretty-name'],
  ['versionId', 'version-id'],
  ['kernelVersion', 'kernel-version'],
  ['machine', 'machine'],
  ['id', 'id'],
];

/** guest-get-osinfo */
export function readOsInfo(answer: unknown): GuestOsInfo {
  const said = objectFrom(answer);
  return Object.fromEntries(OS_FIELDS.flatMap(([field, key]) => entry(field, word(said[key]))));
}

/** guest-network-get-interfaces, without the loopback. */
export function readNics(answer: unknown): GuestNic[] {
  return listFrom(answer, MOST_NICS).flatMap((said) => {
    const { name, 'hardware-address': mac } = said;
    if (typeof name !== 'string' || !INTERFACE_NAME.test(name) || typeof mac !== 'string' || !MAC.test(mac)) return [];
    if (/^(00:){5}00$/.test(mac)) return [];
    const addresses = listFrom(said['ip-addresses'], MOST_ADDRESSES).flatMap(({ 'ip-address': address }) =>
      typeof address === 'string' && isIP(address) && !isLinkLocal(address) ? [address] : [],
    );
    return [{ interfaceName: name, mac: mac.toLowerCase(), ipAddresses: addresses }];
  });
}

/** guest-get-users */
export function readUsers(answer: unknown): GuestUser[] {
  return listFrom(answer, MOST_USERS).flatMap((said): GuestUser[] => {
    const userName = word(said['user']);
    if (!userName) return [];
    const { 'login-time': loginTime } = said;
    const time = typeof loginTime === 'number' && Number.isFinite(loginTime) ? { loginTime } : {};
    return [{ userName, ...Object.fromEntries(entry('domain', word(said['domain']))), ...time }];
  });
}

/** guest-get-fsinfo */
export function readFileSystems(answer: unknown): GuestFileSystem[] {
  return listFrom(answer, MOST_FILE_SYSTEMS).flatMap((said): GuestFileSystem[] => {
    const diskName = word(said['name']);
    const mountPoint = readable(said['mountpoint'], LONGEST_PATH);
    if (!diskName || !mountPoint) return [];
    const disk = listFrom(said['disk'], 16).map((each) => ({
      ...Object.fromEntries(entry('serial', word(each['serial']))),
      busType: word(each['bus-type']) ?? '',
    }));
    return [
      {
        diskName,
        mountPoint,
        fileSystemType: word(said['type']) ?? '',
        usedBytes: bytes(said['used-bytes']),
        totalBytes: bytes(said['total-bytes']),
        ...(disk.length > 0 && { disk }),
      },
    ];
  });
}

/** guest-info */
export function readVersion(answer: unknown): AgentVersion {
  const said = objectFrom(answer);
  const commands = listFrom(said['supported_commands'], MOST_COMMANDS).flatMap(({ name, enabled }) =>
    typeof name === 'string' && /^[a-z0-9-]{1,64}$/.test(name) ? [{ name, enabled: enabled === true }] : [],
  );
  return { version: word(said['version']) ?? '', commands };
}

/** guest-get-host-name */
export function readHostname(answer: unknown): string | undefined {
  return word(objectFrom(answer)['host-name']);
}

/** guest-get-timezone, as upstream writes it: the name and the seconds east of Greenwich. */
export function readTimezone(answer: unknown): string | undefined {
  const { zone, offset } = objectFrom(answer);
  const name = word(zone);
  const seconds = typeof offset === 'number' && Number.isInteger(offset) ? String(offset) : undefined;
  return name === undefined && seconds === undefined ? undefined : [name, seconds].filter((each) => each !== undefined).join(', ');
}

/** guest-fsfreeze-status */
export function readIsFrozen(answer: unknown): boolean {
  return answer === 'frozen';
}

/** Commands without which much of what is shown of a guest would be missing. */
const NEEDED = ['guest-info', 'guest-ping', 'guest-get-osinfo', 'guest-get-host-name', 'guest-network-get-interfaces', 'guest-get-fsinfo'];

/** Those that this agent lacks. */
export function missingCommands({ commands }: AgentVersion): string[] {
  const able = new Set(commands.filter(({ enabled }) => enabled).map(({ name }) => name));
  return NEEDED.filter((name) => !able.has(name));
}

function isLinkLocal(address: string): boolean {
  return /^fe80:/i.test(address);
}

function word(value: unknown): string | undefined {
  return readable(value, LONGEST_WORD);
}

function bytes(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function entry<Key extends string>(key: Key, value: string | undefined): [Key, string][] {
  return value === undefined ? [] : [[key, value]];
}

function objectFrom(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function listFrom(value: unknown, most: number): JsonObject[] {
  return Array.isArray(value) ? value.slice(0, most).filter(isObject) : [];
}
