/** What a program in a container answers by its exit code; it is ended, with all that it started, when it takes too long. */
import type { ExecProcess } from '../streams/exec-process.ts';

/** What is shown to people of what it said. */
const MOST_SAID = 1024;

/** Undefined for a yes, the reason for a no. */
export async function answerOf(process: ExecProcess, signal: AbortSignal): Promise<string | undefined> {
  const { child } = process;
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(0, MOST_SAID);
    });
  child.stdin.on('error', () => {}); // it need not read
  child.stdin.end();
  const end = async () => {
    await process.end();
    for (const stream of [child.stdout, child.stderr]) stream.destroy(); // what it left behind may hold them open
  };
  const onAbort = () => void end();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  signal.removeEventListener('abort', onAbort);
  if (signal.aborted) return 'command timed out';
  return code === 0 ? undefined : `command exited with ${code ?? 'a signal'}: ${said.trim()}`;
}
