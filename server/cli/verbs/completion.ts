// `twinline completion`: prints a shell script that completes commands and flags.

import { parseArgs } from 'node:util';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { type LoadedVerb, listFlags, UsageError, type Verb } from '../verb.ts';

type Verbs = Readonly<Record<string, LoadedVerb>>;

/** Completes all commands, including itself. */
export function completionVerb(loadVerbs: () => Promise<Verbs>): Verb {
  return {
    usage: '<bash|zsh|fish>',
    options: {
      '(bash)': 'eval "$(twinline completion bash)" in ~/.bashrc',
      '(zsh)': 'eval "$(twinline completion zsh)" in ~/.zshrc, after compinit',
      '(fish)': 'twinline completion fish > ~/.config/fish/completions/twinline.fish',
    },
    run: async (args) => {
      const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
      const [shell = '', ...more] = positionals;
      if (more.length) throw new UsageError('Give one shell.');
      if (!Object.hasOwn(SCRIPTS, shell))
        throw new UsageError(
          shell === '' ? 'Name a shell.' : `No script for "${shell}".${suggest(shell, Object.keys(SCRIPTS))}`,
        );
      console.log(SCRIPTS[shell]!(await loadVerbs()));
      return 0;
    },
  };
}

const SCRIPTS: { readonly [shell: string]: (verbs: Verbs) => string } = { bash, zsh, fish };

const stripQuotes = (words: string) => words.replace(/['\\:[\]`$"]/g, '');

function bash(verbs: Verbs): string {
  const cases = Object.entries(verbs).map(
    ([name, verb]) => `    ${name}) words='${[...listFlags(verb), '--help'].join(' ')}' ;;`,
  );
  return `_twinline() {
  local words word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words='' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='${Object.keys(verbs).join(' ')} --help --version'
  [ "$COMP_CWORD" -gt 1 ] && [[ "$word" != -* ]] && words=''
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _twinline twinline`;
}

function zsh(verbs: Verbs): string {
  const names = Object.entries(verbs).map(([name, { summary }]) => `    '${name}:${stripQuotes(summary)}'`);
  const cases = Object.entries(verbs).map(
    ([name, verb]) => `    ${name}) compadd -- ${[...listFlags(verb), '--help'].join(' ')} ;;`,
  );
  return `_twinline() {
  local -a verbs
  verbs=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  if [[ $PREFIX != -* ]]; then
    _files
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
}
compdef _twinline twinline`;
}

function fish(verbs: Verbs): string {
  const lines = Object.entries(verbs).flatMap(([name, verb]) => [
    `complete -c twinline -f -n __fish_use_subcommand -a ${name} -d '${stripQuotes(verb.summary)}'`,
    ...listFlags(verb).map(
      (flag) => `complete -c twinline -n '__fish_seen_subcommand_from ${name}' -l ${flag.replace(/^--/, '')}`,
    ),
  ]);
  return lines.join('\n');
}
