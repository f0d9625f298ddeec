/** Quantities such as `100Mi` and `0.5`, exactly: as a whole number of nanos. */

export class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const NANOS = 1_000_000_000n;
const TEXT = /^([+-]?)(\d+)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,2})|(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E))?$/;
const FACTORS: Readonly<Record<string, readonly [times: bigint, by: bigint]>> = {
  n: [1n, NANOS],
  u: [1n, 1_000_000n],
  m: [1n, 1_000n],
  k: [10n ** 3n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
};
const MAX_LENGTH = 64;

/** Undefined for what is no quantity. Parts of a nano are rounded up, as Kubernetes does. */
export function parseExactQuantity(text: string): Quantity | undefined {
  const match = text.length > MAX_LENGTH ? null : TEXT.exec(text);
  if (!match || (match[2] === undefined && !match[3])) return undefined;
  const [, sign, whole = '0', fraction = '', exponent, suffix] = match;
  const digits = BigInt(whole + fraction);
  const power = Number(exponent ?? 0) - fraction.length;
  const [times, by] = suffix === undefined ? [1n, 1n] : (FACTORS[suffix] ?? [1n, 1n]);
  const above = digits * times * NANOS * 10n ** BigInt(Math.max(power, 0));
  const below = by * 10n ** BigInt(Math.max(-power, 0));
  const nanos = (above + below - 1n) / below;
  return new Quantity(sign === '-' ? -nanos : nanos);
}

export function isWhole({ nanos }: Quantity): boolean {
  return nanos % NANOS === 0n;
}

export function wholeOf({ nanos }: Quantity): bigint {
  return nanos / NANOS;
}

export function quantityOf(whole: bigint): Quantity {
  return new Quantity(whole * NANOS);
}
