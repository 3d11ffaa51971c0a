// Rules for menus besides our own: the modules of LINT_RULES, and those that a program gives.

import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { PROBLEM_CODES } from '../../lib/flow/lint/lint.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import { isObject, isText } from '../../lib/given.ts';
import { importDefault } from '../config/modules.ts';

export interface LintRuleOptions {
  /** Where relative paths start, and packages are looked for. */
  readonly folder: string;
  /** Rules that are there already. */
  readonly given?: readonly LintRule[] | undefined;
}

/**
 * Loads the modules, whose default export is a rule or a list of rules. A rule that throws is reported as a problem of the flow, at
 * its first line. Throws ERR_CONFIG with every problem, one per line.
 */
export async function loadLintRules(
  modules: readonly string[],
  { folder, given = [] }: LintRuleOptions,
): Promise<readonly LintRule[]> {
  const problems: string[] = [];
  const rules: LintRule[] = [];
  const add = (from: string, value: unknown) => {
    const codes = rules.map(({ code }) => code);
    const flaws = findFlaws(value, codes);
    problems.push(...flaws.map((flaw) => `${from} ${flaw}`));
    if (!flaws.length) rules.push(guardRule(value as LintRule));
  };
  for (const module of modules) {
    const imported = await importDefault(module, folder);
    if (imported.kind === 'loaded') for (const rule of [imported.value].flat()) add(`LINT_RULES: "${module}"`, rule);
    else problems.push(`LINT_RULES: "${module}" ${imported.why}`);
  }
  for (const [at, rule] of given.entries()) add(`lintRules[${at}]`, rule);
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return rules;
}

/** Those that LINT_RULES of this environment names. Throws as {@link loadLintRules} does. */
export function lintRulesFrom({ LINT_RULES = '' }: NodeJS.ProcessEnv): Promise<readonly LintRule[]> {
  const modules = LINT_RULES.split(',').map((module) => module.trim());
  return loadLintRules(modules.filter(Boolean), { folder: process.cwd() });
}

const CODE = /^[a-z][a-z0-9-]{0,63}$/;
const SEVERITIES = ['error', 'warning'];
const FIELDS = ['code', 'severity', 'means', 'find'];

/** What keeps this from being a rule, as ends of sentences; empty when nothing does. */
function findFlaws(value: unknown, others: readonly string[]): string[] {
  if (!isObject(value))
    return ['has no default export that is a rule. Write: export default { code, severity, means, find(lint) { … } }'];
  const { code, severity, means, find } = value;
  const flaws: string[] = [];
  if (typeof code !== 'string' || !CODE.test(code))
    flaws.push('has a wrong "code": it must be lower-case letters, digits and dashes, such as no-shouting.');
  else if (PROBLEM_CODES.has(code) || others.includes(code))
    flaws.push(`has the code "${code}", which another rule has. Use another one.`);
  if (!SEVERITIES.includes(severity as string)) flaws.push('has a wrong "severity": it must be error or warning.');
  if (!isText(means) || means === '') flaws.push('has no "means": say what it is that is wrong.');
  if (typeof find !== 'function') flaws.push(`has no function "find".${suggest('find', Object.keys(value))}`);
  const unknown = Object.keys(value).filter((field) => !FIELDS.includes(field));
  flaws.push(...unknown.map((field) => `has "${field}", which rules have not.${suggest(field, FIELDS)}`));
  return flaws;
}

// A rule from outside must not keep a server from starting, nor an edit from being reported.
function guardRule(rule: LintRule): LintRule {
  return {
    ...rule,
    find: (lint) => {
      try {
        return [...rule.find(lint)];
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const message = `The rule "${rule.code}" cannot look at this flow: ${why}.`;
        return [{ pointer: '', severity: 'warning', message, fix: 'Correct the rule.' }];
      }
    },
  };
}
