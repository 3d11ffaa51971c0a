// Secret variables: where their values would be shown, or kept after the turn; and PINs that are kept because they are no secrets.

import { type Node, parseExpression } from '../../expression/parse.ts';
import type { Variable } from '../../format/flow.ts';
import { capitalize, describePlace, type Mend, writeValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { isInteractive } from '../../screens/kinds.ts';
import type { ExpressionPart } from '../parts.ts';
import { type Lint, type LintRule, reachFrom } from '../rule.ts';

export const secretRules: readonly LintRule[] = [
  {
    code: 'secret-shown',
    severity: 'error',
    means: 'a text prints a secret variable',
    *find(lint) {
      for (const { pointer, compiled } of lint.parts.wordings) {
        if (!compiled.ok) continue;
        for (const { root, offset, path } of compiled.value.paths) {
          if (!isSecret(lint, root)) continue;
          const message = `${capitalize(describePlace(pointer))} prints the secret variable "${root}".`;
          yield {
            pointer,
            at: offset,
            message,
            fix: `Remove {{${path}}}; secrets are only compared and passed to services.`,
          };
        }
      }
      for (const part of lint.parts.expressions) {
        const name = part.role === 'items' ? findSecret(lint, part) : undefined;
        if (name === undefined) continue;
        const message = `${capitalize(describePlace(part.pointer))} shows the secret variable "${name}".`;
        yield { pointer: part.pointer, message, fix: `List something else than "${name}".` };
      }
    },
  },
  {
    code: 'secret-kept',
    severity: 'error',
    means: 'the value of a secret variable is copied to one that is stored',
    *find(lint) {
      for (const part of lint.parts.expressions) {
        if (part.role !== 'value' || part.into === 'service') continue;
        const name = findSecret(lint, part);
        const keeper = name === undefined ? undefined : findKeeper(lint, part);
        if (keeper === undefined) continue;
        const message = `${capitalize(describePlace(part.pointer))} passes the secret variable "${name}" to ${keeper}, which is kept.`;
        yield { pointer: part.pointer, message, fix: `Do not copy "${name}", or make ${keeper} secret too.` };
      }
      for (const part of lint.parts.expressions) {
        const screen = part.screen === undefined ? undefined : lint.graph.screens.get(part.screen);
        const save = part.role === 'items' && screen?.type === 'list' ? screen.pick?.save : undefined;
        const name = save === undefined || isSecret(lint, save) ? undefined : findSecret(lint, part);
        if (name === undefined) continue;
        const message = `Screen "${part.screen}" saves an item of the secret variable "${name}" in "${save}", which is kept.`;
        const pointer = pointerTo('screens', part.screen!, 'pick', 'save');
        yield { pointer, message, fix: `Make "${save}" secret too.` };
      }
    },
  },
  {
    code: 'secret-gone',
    severity: 'error',
    means: 'a secret variable is read in a later turn than it was set, when it is always null',
    *find(lint) {
      const fresh = new Map<string, Set<string>>();
      for (const part of lint.parts.expressions) {
        const { pointer, screen, compiled } = part;
        if (screen === undefined || !compiled.ok) continue;
        // Expressions that show or keep a secret are reported by the rules above.
        if (part.role === 'items' || (findKeeper(lint, part) && findSecret(lint, part))) continue;
        for (const name of compiled.value.names) {
          if (!isSecret(lint, name)) continue;
          const places = fresh.get(name) ?? findFreshScreens(lint, name);
          fresh.set(name, places);
          if (places.has(screen)) continue;
          const message = `${capitalize(describePlace(pointer))} reads the secret variable "${name}", which is gone by then: secrets live for one answer.`;
          const fix = `Use "${name}" before the next screen that waits, or ask for it again ("sameAs" compares with an earlier answer).`;
          yield { pointer, message, fix, ...mendGone(lint, { name, screen }) };
        }
      }
    },
  },
];

/** PINs of variables that are not secret. */
export const pinRules: readonly LintRule[] = [
  {
    code: 'open-pin',
    severity: 'error',
    means: 'an input asks for a PIN or a password and keeps it in clear: its variable is not secret',
    *find(lint) {
      const used = findPinVariables(lint);
      for (const [id, screen] of lint.graph.screens) {
        if (screen.type !== 'input') continue;
        const variable = lint.vars.get(screen.save);
        const use = used.get(screen.save) ?? (isPinName(screen.save) ? 'its name says that it is a PIN' : undefined);
        if (!variable || variable.secret || use === undefined) continue;
        const message = `Screen "${id}" keeps what is typed in "${screen.save}" in clear, and ${use}.`;
        const other = used.has(screen.save) ? '' : '; or rename it where it is none';
        const fix = `Write "secret": true for the variable "${screen.save}"${other}.`;
        yield { pointer: pointerTo('screens', id, 'save'), message, fix, ...mendOpen(lint, screen.save, variable) };
      }
    },
  },
];

const PIN_WORDS = new Set(['pin', 'pins', 'mpin', 'tpin', 'pincode', 'passcode', 'password', 'passwd']);

/** Whether a word of a name is a word for a PIN: `newPin`, `pin_2`, and not `pineapple`. */
function isPinName(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^A-Za-z]+/);
  return words.some((word) => PIN_WORDS.has(word.toLowerCase()));
}

/** Variables whose values come to a service as a PIN, or into a secret variable, also over others: how, in words. */
function findPinVariables(lint: Lint): Map<string, string> {
  const used = new Map<string, string>();
  const findUse = ({ into, pointer, screen }: ExpressionPart): string | undefined => {
    if (into === 'service' || into === 'task') {
      const field = pointer.slice(pointer.lastIndexOf('/') + 1);
      return isPinName(field) ? `screen "${screen}" gives it to a service as "${field}"` : undefined;
    }
    if (typeof into !== 'object') return undefined;
    if (into.of === undefined)
      return isSecret(lint, into.name) ? `"${into.name}" gets it as a secret` : used.get(into.name);
    const isKept = lint.flows?.get(into.of)?.vars?.[into.name]?.secret !== true;
    return isKept ? undefined : `"${into.name}" of the flow "${into.of}" gets it as a secret`;
  };
  for (let size = -1; size !== used.size; ) {
    size = used.size;
    for (const part of lint.parts.expressions) {
      const use = part.role === 'value' && part.compiled.ok ? findUse(part) : undefined;
      if (use === undefined) continue;
      for (const name of listGiven(parseExpression(part.source).root)) if (!used.has(name)) used.set(name, use);
    }
  }
  return used;
}

// Certain where nothing shows, keeps or reads it later.
function mendOpen(lint: Lint, name: string, variable: Variable): { readonly mend?: Mend } {
  const secret = { ...variable, secret: true };
  const vars = new Map([...lint.vars, [name, secret]]);
  const isSound = secretRules.every((rule) => [...rule.find({ ...lint, vars })].length === 0);
  if (!isSound || variable.private || variable.default !== undefined) return {};
  return { mend: { text: writeValue(secret), place: { pointer: pointerTo('vars', name) } } };
}

// Another secret that is there on this screen, and was accepted as the same.
function mendGone(lint: Lint, { name, screen }: { name: string; screen: string }): { readonly mend?: Mend } {
  const same = Object.values(lint.flow.screens).flatMap((one) =>
    one.type === 'input' && one.accept?.sameAs === name && one.save !== name ? [one.save] : [],
  );
  const [other, ...others] = same.filter((one) => isSecret(lint, one) && findFreshScreens(lint, one).has(screen));
  return other === undefined || others.length ? {} : { mend: { old: `=${name}`, text: `=${other}` } };
}

/** The screens at which a secret may still be there; all of them when nothing in this flow sets it. */
function findFreshScreens({ parts, graph, flow }: Lint, name: string): Set<string> {
  // What is set to a plain value, such as null, holds no secret.
  const saved = parts.writes.filter((write) => write.name === name && write.of === undefined && !write.isKey);
  const set = parts.expressions.filter(
    ({ into }) => typeof into === 'object' && into.name === name && into.of === undefined,
  );
  const setters = [...saved, ...set].map(({ screen }) => screen).filter((id) => id !== undefined);
  // Where nothing sets it, or a target is not known, it may be anywhere.
  if (!setters.length || setters.some((id) => graph.loose.has(id))) return new Set(graph.screens.keys());
  // A turn goes on through screens that do not wait.
  const passing = (id: string) => (isInteractive(graph.screens.get(id)!) ? [] : graph.next.get(id)!);
  const onward = new Map([...graph.screens.keys()].map((id) => [id, passing(id)]));
  const entered = reachFrom(
    [...setters.flatMap((id) => graph.next.get(id)!), ...(graph.isCalled ? [flow.start] : [])],
    onward,
  );
  const fresh = [...entered].filter((id) => !isInteractive(graph.screens.get(id)!));
  return new Set([...fresh, ...setters]);
}

function isSecret({ vars }: Lint, name: string): boolean {
  return vars.get(name)?.secret === true;
}

/** Where a value ends, if that is a place that outlives the turn and that `hides` says nothing of. */
export function findKeeper(
  lint: Lint,
  { into }: Pick<ExpressionPart, 'into'>,
  hides = (variable: Variable | undefined) => variable?.secret === true,
): string | undefined {
  if (into === 'output') return 'the output of the flow';
  if (into === 'task') return 'a call that is made after the reply';
  if (typeof into !== 'object') return undefined;
  const { name, of } = into;
  if (of === undefined) return hides(lint.vars.get(name)) ? undefined : `"${name}"`;
  const called = lint.flows?.get(of)?.vars ?? {};
  const isKept = Object.hasOwn(called, name) && !hides(called[name]);
  return isKept ? `"${name}" of the flow "${of}"` : undefined;
}

const findSecret = (lint: Lint, part: ExpressionPart) => findGiven(part, (name) => isSecret(lint, name));

/** The variable of these whose value the expression can give, or undefined when it gives only a fact about one, such as its length. */
export function findGiven(
  { source, compiled: expression }: ExpressionPart,
  isMeant: (name: string) => boolean,
): string | undefined {
  if (!expression.ok || !expression.value.names.some(isMeant)) return undefined;
  return listGiven(parseExpression(source).root).find(isMeant);
}

// Comparisons, conditions and these functions tell something about a value and do not give it.
const TELLING = new Set(['len', 'startsWith', 'contains']);
const CARRYING = new Set(['+', '-', '*', '/', '%']);

function listGiven(node: Node): string[] {
  switch (node.kind) {
    case 'value':
    case 'not':
      return [];
    case 'name':
      return [node.name];
    case 'member':
    case 'index':
    case 'minus':
      return listGiven(node.of);
    case 'binary':
      return CARRYING.has(node.sign) ? [...listGiven(node.left), ...listGiven(node.right)] : [];
    case 'choice':
      return [...listGiven(node.yes), ...listGiven(node.no)];
    case 'call':
      return TELLING.has(node.name) ? [] : node.args.flatMap(listGiven);
  }
}
