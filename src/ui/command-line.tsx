/** A command that does the same in a terminal, and a button that copies it. */
import { CopyButton } from './copy-button.tsx';

type Props = { readonly command: string; readonly before?: string };

export function CommandLine({ command, before = 'The same in a terminal:' }: Props) {
  return (
    <p class="faint">
      {before} <code>{command}</code> <CopyButton text={command} what="the command" />
    </p>
  );
}
