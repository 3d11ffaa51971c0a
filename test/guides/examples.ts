// Examples in docstrings as modules that check what their comments promise.

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
