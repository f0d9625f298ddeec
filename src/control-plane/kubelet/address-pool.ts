/** Pod addresses out of one IPv4 range: each belongs to one Pod for life, and a freed one is not reused while others are left. */
import { ApiError } from '../../base/errors.ts';

export class AddressPool {
  readonly #first: number;
  readonly #count: number;
  readonly #used = new Set<string>();
  readonly #byOwner = new Map<string, string>();
  #next = 0;

  /** The first two addresses of the range (network, gateway) and the last (broadcast) are left out. */
  constructor(cidr: string) {
    const [base = '', bits = ''] = cidr.split('/');
    const prefix = Number(bits);
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(base) || !(prefix >= 8 && prefix <= 29))
      throw new ApiError('Invalid', `${cidr} is not a usable Pod range`);
    this.#first = toNumber(base) + 2;
    this.#count = 2 ** (32 - prefix) - 3;
  }

  /** The address this owner has. */
  of(owner: string): string | undefined {
    return this.#byOwner.get(owner);
  }

  /** The address this owner has, the preferred one when it is free, or the next free one. */
  take(owner: string, preferred?: string): string {
    const own = this.of(owner);
    if (own) return own;
    if (preferred && this.#isInRange(preferred) && !this.#used.has(preferred)) return this.#give(preferred, owner);
    for (let tries = 0; tries < this.#count; tries++) {
      const address = toText(this.#first + (this.#next++ % this.#count));
      if (!this.#used.has(address)) return this.#give(address, owner);
    }
    throw new ApiError('TooManyRequests', `all ${this.#count} Pod addresses are in use`);
  }

  release(owner: string): void {
    const address = this.of(owner);
    if (address !== undefined) this.#used.delete(address);
    this.#byOwner.delete(owner);
  }

  #give(address: string, owner: string): string {
    this.#used.add(address);
    this.#byOwner.set(owner, address);
    return address;
  }

  #isInRange(address: string): boolean {
    const offset = toNumber(address) - this.#first;
    return offset >= 0 && offset < this.#count;
  }
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toText(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
