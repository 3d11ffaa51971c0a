// Turns examples in docstrings into whole programs: adds the imports of the package and of XState that docstrings leave out.

import { ts } from '@ts-morph/common';

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

/** Adds an import for each name that the example uses and does not declare; `find` gives the subpath of a name. */
export function addImports(example: string, find: (name: string) => string | undefined): string {
  const { used, declared } = listNames(example);
  const bySubpath = new Map<string, string[]>();
  for (const name of [...used].sort()) {
    const home = declared.has(name) ? undefined : find(name);
    if (home) bySubpath.set(home, [...(bySubpath.get(home) ?? []), name]);
  }
  const lines = [...bySubpath].map(([subpath, names]) => `import { ${names.join(', ')} } from '${subpath}';`);
  const separator = example.startsWith('import ') ? '' : '\n';
  return `${lines.sort((a, b) => (a.replace(/.*from/, '') < b.replace(/.*from/, '') ? -1 : 1)).join('\n')}\n${separator}${example}`;
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
