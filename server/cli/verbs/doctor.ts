// `twinline doctor`: what is wrong with this machine, its settings and its stores, and what to do about it.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { readConfig } from '../../config/config.ts';
import { environmentRedactor } from '../../config/secrets.ts';
import type { Finding, Level } from '../../doctor/check.ts';
import type { Verb } from '../verb.ts';

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
