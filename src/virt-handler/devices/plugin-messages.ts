/** The few messages of the kubelet's device plugin API (v1beta1), as bytes of protobuf and gRPC. Pure. */

/** What a container gets for one device. */
export type DeviceSpec = { readonly containerPath: string; readonly hostPath: string; readonly permissions: string };

const VERSION = 'v1beta1';
/** Of every field that these messages have: its length comes first, then its bytes. */
const LENGTH_DELIMITED = 2;
/** One byte "not compressed", four bytes length. */
const FRAME_HEAD = 5;

export const PATHS = {
  register: `/${VERSION}.Registration/Register`,
  options: `/${VERSION}.DevicePlugin/GetDevicePluginOptions`,
  list: `/${VERSION}.DevicePlugin/ListAndWatch`,
  allocate: `/${VERSION}.DevicePlugin/Allocate`,
} as const;

/** "There is a plugin for this resource behind that socket." */
export function registerRequest({ endpoint, resource }: { endpoint: string; resource: string }): Buffer {
  return message([1, VERSION], [2, endpoint], [3, resource]);
}

/** The devices there are, all of them healthy. */
export function deviceList(ids: readonly string[]): Buffer {
  return message(...ids.map((id): Field => [1, message([1, id], [2, 'Healthy'])]));
}

/** The same devices for each container that asks. */
export function allocateResponse(request: Buffer, { containerPath, hostPath, permissions }: DeviceSpec): Buffer {
  const device = message([1, containerPath], [2, hostPath], [3, permissions]);
  return message(...fieldsOf(request).map((): Field => [1, message([3, device])]));
}

/** A message as gRPC sends it. */
export function framed(body: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** The message in what gRPC has sent. */
export function unframed(frame: Buffer): Buffer {
  return frame.subarray(FRAME_HEAD, FRAME_HEAD + (frame.length < FRAME_HEAD ? 0 : frame.readUInt32BE(1)));
}

type Field = readonly [number: number, value: string | Buffer];

function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      const bytes = Buffer.from(value);
      return [varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes];
    }),
  );
}

/** The values of a message's fields; every field of a request that we read is one of length and bytes. */
function fieldsOf(body: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const [, start] = readVarint(body, at);
    const [length, from] = readVarint(body, start);
    fields.push(body.subarray(from, from + length));
    at = from + length;
  }
  return fields;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function readVarint(body: Buffer, at: number): [value: number, next: number] {
  let value = 0;
  let shift = 0;
  for (let next = at; next < body.length; next++, shift += 7) {
    const byte = body[next] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value, next + 1];
  }
  throw new Error('a number of a message does not end');
}
