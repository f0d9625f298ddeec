/** Prints what a shell needs to complete command lines. The shell asks this program itself, so names of machines are live. */
import type { Deps } from '../../deps.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

const BASH = `# virtctl completion for bash: source <(virtctl completion bash)
_virtctl() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _virtctl virtctl
`;
const ZSH = `#compdef virtctl
# virtctl completion for zsh: source <(virtctl completion zsh)
_virtctl() {
  local -a proposals
  local line
  while IFS= read -r line; do
    proposals+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe virtctl proposals || _files
}
compdef _virtctl virtctl
`;
const FISH = `# virtctl completion for fish: virtctl completion fish | source
complete -c virtctl -f -a '(virtctl __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`;
const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function run({ stdout }: Deps, _flags: object, shell: Shell): void {
  stdout.write(SCRIPTS[shell]);
}
