// The guide to the command line, made from the help of its verbs: `npm run guides` writes it.

import { loadVerbs } from '../../server/cli/verbs.ts';
import { markdownTable } from '../support/markdown-table.ts';

const HEAD = `# The command line

\`npx twinline <verb>\`. Every verb has \`--help\`, and takes \`--env-file <file>\` for variables that are not set. Exit codes: 0 well,
1 findings, 2 usage, 78 configuration. \`eval "$(npx twinline completion bash)"\` completes verbs and flags.

<!-- Made by \`npm run guides\` from the help of the verbs. -->
`;

/** The whole guide as Markdown: a section for each verb, its usage, and a table of its options. */
export async function commandLineGuide(): Promise<string> {
  const sections = Object.entries(await loadVerbs()).map(([name, { summary, usage, options }]) => {
    const call = `npx twinline ${name} ${usage}`.trimEnd();
    const rows = Object.entries(options).map(([flag, words]) => [
      `\`${flag}\``,
      words.replace(/https?:[^\s,;]+/g, '`$&`'),
    ]);
    const table = rows.length ? ['', ...markdownTable(['option', 'what it does'], rows)] : [];
    return [`## ${name}`, '', `${summary}.`, '', '```sh elsewhere', call, '```', ...table].join('\n');
  });
  return `${[HEAD, ...sections].join('\n')}\n`.replace(/\n## /g, '\n\n## ').replace(/\n{3,}/g, '\n\n');
}
