/** Bytes to and from a guest. */

/** As web streams: `for await (const bytes of stream.readable)`, and `stream.writable.getWriter()`. */
export type ByteStream = AsyncDisposable & {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  close(): void;
};

/** A two-way stream to a path of the cluster; throws ApiError when it is refused. How depends on where the program runs. */
export type OpenStream = (path: string, options?: { readonly signal?: AbortSignal }) => Promise<ByteStream>;

export type ExecResult = {
  /** 128 and more where a signal ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** It printed more than is here. */
  readonly isTruncated: boolean;
};
