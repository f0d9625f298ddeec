/** Which image the words of `virtctl run` mean, and what is to run in the machine. */
import { UserError } from '../../../base/errors.ts';

type RunKind = { readonly rm: boolean; readonly detach: boolean; readonly agentTimeout: number; readonly timeout: number };
type RunWords = { readonly image: string; readonly command?: readonly string[] };

/** The demo guest: small, fast, and on every machine. */
const DEFAULT_IMAGE = 'tiny';

/** As long as an agent is waited for. */
const MOST_SECONDS = 600;

/** `[IMAGE] [-- COMMAND ...]`; a command goes with a machine that is thrown away, and the other way round. */
export function parseRunWords(words: readonly string[], flags: RunKind): RunWords {
  const { rm: isThrownAway, detach, agentTimeout, timeout } = flags;
  const at = words.indexOf('--');
  const [images, command] = at < 0 ? [words, undefined] : [words.slice(0, at), words.slice(at + 1)];
  const [image = DEFAULT_IMAGE, ...rest] = images;
  if (rest.length > 0)
    throw usage('one image makes one machine', `virtctl run ${image}${isThrownAway ? ` --rm -- ${rest.join(' ')}` : ''}`);
  if (command !== undefined && !isThrownAway)
    throw usage('a command is for a machine that is thrown away afterwards', `virtctl run --rm ${image} -- ${command.join(' ')}`);
  if (isThrownAway && (command?.length ?? 0) === 0) throw usage('--rm needs a command behind --', `virtctl run --rm ${image} -- uname -a`);
  if (isThrownAway && detach) throw usage('--rm cannot be combined with --detach', 'leave one of them out: --rm waits for the command');
  if (!(agentTimeout > 0)) throw usage(`--agent-timeout ${agentTimeout} is not a number of seconds`, '--agent-timeout 300');
  if (!(timeout > 0 && timeout <= MOST_SECONDS))
    throw usage(`--timeout ${timeout} is not a number of seconds up to ${MOST_SECONDS}`, '--timeout 600');
  return { image, ...(command && { command }) };
}

function usage(what: string, fix: string): UserError {
  return new UserError('USAGE', what, { fix, exitCode: 2 });
}
