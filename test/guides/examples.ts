// Examples in docstrings as whole programs. A docstring leaves out the imports of the package, and of XState:
// they are found by the names.

import { ts } from '@ts-morph/common';
import type { Api } from './api.ts';

/** The flow that examples read as `hello.flow.json`. */
export const HELLO_FLOW = `{
  "flow": "hello",
  "version": 1,
  "start": "home",
  "screens": {
    "home": { "type": "menu", "text": "Hello", "options": [{ "id": "bye", "text": "Leave", "to": "bye" }] },
    "bye": { "type": "end", "text": "Bye" }
  }
}`;

/** The same names, their examples with the imports that they need. */
export function withImports(api: Api): Api {
  const homes = new Map([['createMachine', 'xstate']]);
  // The engine's first: it comes first in the package, too.
  for (const [subpath, names] of api)
    for (const { name, seeAt } of names) if (!seeAt && !homes.has(name)) homes.set(name, subpath);
  return new Map(
    [...api].map(([subpath, names]) => {
      const own = new Map(names.map(({ name }) => [name, subpath]));
      const find = (name: string) => own.get(name) ?? homes.get(name);
      return [subpath, names.map((one) => (one.example ? { ...one, example: addImports(one.example, find) } : one))];
    }),
  );
}

function addImports(example: string, find: (name: string) => string | undefined): string {
  const { used, declared } = listNames(example);
  const bySubpath = new Map<string, string[]>();
  for (const name of [...used].sort()) {
    const home = declared.has(name) ? undefined : find(name);
    if (home) bySubpath.set(home, [...(bySubpath.get(home) ?? []), name]);
  }
  const lines = [...bySubpath].map(([subpath, names]) => `import { ${names.join(', ')} } from '${subpath}';`);
  const ended = example.startsWith('import ') ? '' : '\n';
  return `${lines.sort((a, b) => (a.replace(/.*from/, '') < b.replace(/.*from/, '') ? -1 : 1)).join('\n')}\n${ended}${example}`;
}

/** Names that stand for values, and those that the program itself declares. */
function listNames(text: string): { readonly used: ReadonlySet<string>; readonly declared: ReadonlySet<string> } {
  const [used, declared] = [new Set<string>(), new Set<string>()];
  const visit = (node: ts.Node, parent?: ts.Node): void => {
    if (ts.isIdentifier(node) && parent) {
      const { name, propertyName } = parent as { name?: ts.Node; propertyName?: ts.Node };
      const isKey =
        ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent);
      if (name === node && !isKey && !ts.isShorthandPropertyAssignment(parent)) declared.add(node.text);
      else if (propertyName !== node && !(isKey && name === node)) used.add(node.text);
    }
    ts.forEachChild(node, (child) => visit(child, node));
  };
  visit(ts.createSourceFile('example.ts', text, ts.ScriptTarget.ES2022));
  return { used, declared };
}

const GIVES = /^(.+?);? \/\/ → (.+)$/gm;
const THROWS = /^(.+?);? \/\/ throws (ERR_\w+)$/gm;

/** The example as a module that checks what its comments promise. */
export function checkedExample(example: string): string {
  const body = example
    .replace(THROWS, (_, call: string, code: string) => `await checkThrows(async () => ${call}, '${code}');`)
    .replace(GIVES, 'check($1, $2);');
  return `import { check, checkThrows } from './check.js';\n${body}\n`;
}

/** How many promises the comments of an example make. */
export function countPromises(example: string): number {
  return [...example.matchAll(GIVES), ...example.matchAll(THROWS)].length;
}
