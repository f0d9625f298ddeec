/** What the evaluation of expressions may cost. They are not programs without end, but loops in loops over long lists come close. */

/** Parts of expressions that were evaluated and characters that were looked at; a unit takes about a tenth of a microsecond. */
const MAX_UNITS = 1_000_000;
/** However cheap it seems. */
const MAX_MS = 250;
const CHARACTERS_PER_UNIT = 10;
const LOOK_AT_CLOCK_EVERY = 512;

/** What all expressions about one object may cost together. */
export class Budget {
  #units: number;
  #steps = 0;
  #isSpent = false;
  readonly #endsMs = performance.now() + MAX_MS;

  constructor(units = MAX_UNITS) {
    this.#units = units;
  }

  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** False from the moment on when more was spent than there was. */
  spend(units: number): boolean {
    this.#units -= units;
    this.#steps += 1;
    if (!(this.#units >= 0)) this.#isSpent = true;
    else if ((units > 100 || this.#steps % LOOK_AT_CLOCK_EVERY === 0) && performance.now() > this.#endsMs) this.#isSpent = true;
    return !this.#isSpent;
  }
}

const EXCEEDED = new Error('operation cancelled: actual cost limit exceeded'); // one for all: loops may meet it a thousand times

/** Whose budget the functions of the language spend. Evaluation is never interrupted: there is one at a time. */
export class Meter {
  budget = new Budget();

  /** Throws when more was spent than there was. */
  spend(units = 1): void {
    if (!this.budget.spend(units)) throw EXCEEDED;
  }

  /** For what takes as long as a text is. */
  spendText(...texts: readonly string[]): void {
    this.spend(1 + texts.reduce((sum, text) => sum + text.length, 0) / CHARACTERS_PER_UNIT);
  }
}

/** How long it takes to look at a value, without what lists and maps contain. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length / CHARACTERS_PER_UNIT;
  return Array.isArray(value) ? value.length : 1;
}

/** With everything inside; what would be more than `limit` is not looked at. */
export function deepSizeOf(value: unknown, limit = MAX_UNITS): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && size <= limit) {
    const next = open.pop();
    size += 1;
    if (Array.isArray(next)) {
      if (next.length > limit) return next.length;
      for (const each of next) open.push(each);
    } else if (next instanceof Map) for (const each of next.values()) open.push(each);
    else if (typeof next === 'object' && next !== null && next.constructor === Object)
      for (const each of Object.values(next)) open.push(each);
    else size += sizeOf(next);
  }
  return size;
}
