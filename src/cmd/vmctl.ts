/** vmctl: keeps a machine beside the Pod that it runs in. Listens for the end of the Pod before anything else is loaded, to miss none. */
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());

const { main } = await import('./vmctl/main.ts');
process.exit(await main(stop.signal));
