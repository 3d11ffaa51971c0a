// `twinline config`: prints all settings with value and source. `twinline doctor`: checks this machine, its settings and stores, and says
// how to fix problems.

import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { readConfig } from '../../config/config.ts';
import { makeOracleKey } from '../../config/data-dir.ts';
import { environmentRedactor, type FoundSetting, showSetting } from '../../config/secrets.ts';
import type { Finding, Level } from '../../doctor/check.ts';
import { EXIT_CONFIG } from '../../http/errors.ts';
import type { Verb } from '../verb.ts';

export const configVerb: Verb = {
  usage: '[options]',
  options: {
    '--json': 'as JSON, secrets left out',
    '--new-keys': 'print freshly made keys as lines for an environment file, and nothing else',
  },
  run: async (args, env) => {
    const options = { json: { type: 'boolean' }, 'new-keys': { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    if (values['new-keys']) {
      console.log(`PIN_ENCRYPTION_KEY=${randomBytes(32).toString('hex')}\nORACLE_KEY=${makeOracleKey()}`);
      return 0;
    }
    const { entries, problems } = readConfig(env);
    console.log(values.json ? JSON.stringify(entries.map(entryJson), null, 2) : entries.map(formatEntry).join('\n'));
    for (const problem of problems) console.error(pc.red(problem));
    return problems.length ? EXIT_CONFIG : 0;
  },
};

function entryJson(entry: FoundSetting) {
  const { name, source, value = null, meaning } = showSetting(entry);
  return { name, value, source, meaning };
}

function formatEntry(entry: FoundSetting): string {
  const { name, source, value = '', meaning } = showSetting(entry);
  return `${pc.bold(name)}=${value} ${pc.dim(`(${source}) ${meaning}`)}`;
}

export const doctorVerb: Verb = {
  usage: '[options]',
  options: { '--json': 'the findings as JSON' },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } as const });
    const { examine } = await import('../../doctor/examine.ts');
    const findings = await examine(readConfig(env), env);
    const text = values.json ? JSON.stringify(findings, null, 2) : formatFindings(findings);
    console.log(environmentRedactor(env).text(text));
    return findings.some(({ level }) => level === 'broken') ? 1 : 0;
  },
};

function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ level, words, fix }) => MARKS[level](fix ? `${words}. ${fix}` : words));
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  return [...lines, `${count('fine')} fine, ${count('advice')} to consider, ${count('broken')} broken`].join('\n');
}

const MARKS: { readonly [level in Level]: (line: string) => string } = {
  fine: (line) => `${pc.green('✓')} ${line}`,
  advice: (line) => pc.yellow(`! ${line}`),
  broken: (line) => pc.red(`✗ ${line}`),
};
