/** Cuts a wait short when QEMU tells something. Whoever looks takes the signal first: what is told during the look is not missed. */
export class News {
  #next = new AbortController();

  /** Aborted by the next thing that is told. */
  readonly signal = (): AbortSignal => this.#next.signal;

  tell(): void {
    const told = this.#next;
    this.#next = new AbortController();
    told.abort();
  }
}
