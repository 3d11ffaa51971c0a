// Reads the public names of the package from its declarations; writes the guide "Every name" and the report for reviews.
// @ts-morph/common provides the compiler API: TypeScript 7 has no stable one, and api-extractor and typedoc need an older compiler.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';
import { addImports, HELLO_FLOW } from './examples.ts';

export interface ApiName {
  readonly name: string;
  /** What its docstring says, `@default` and `@throws` with it; '' when it has none. */
  readonly says: string;
  /** A program that uses it, with what it imports; most functions and classes have one. */
  readonly example?: string;
  /** Its declarations, with the comments in them. */
  readonly declared: string;
  /** Without comments, in one line. */
  readonly signature: string;
  /** The subpath under which it stands already. */
  readonly seeAt?: string;
}

/** Public names by the subpath that exports them, `twinline/flow`; each in the order of the alphabet. */
export type Api = ReadonlyMap<string, readonly ApiName[]>;

const PRINTER = ts.createPrinter({ removeComments: true });
/** A longer signature is that of a machine, which XState infers. */
const SIGNATURE_CHARS = 2_000;

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

/** Reads the declarations in `dist`, the folder of a built package whose `package.json` is in `root`. */
export function readApi(dist: string, root: string = PROJECT): Api {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  const { exports = {} } = JSON.parse(manifest) as { exports?: { readonly [path: string]: string } };
  const entries = Object.entries(exports).map(([path, file]) => ({
    subpath: `twinline${path.slice(1)}`,
    file: join(dist, file.replace('./dist/', '').replace(/\.js$/, '.d.ts')),
  }));
  const { NodeNext } = ts.ModuleKind;
  const options = { module: NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [], noLib: true };
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
  );
  const checker = program.getTypeChecker();
  const seen = new Map<ts.Symbol, string>();
  const readModule = (file: string, subpath: string): ApiName[] => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!);
    if (!module) return [];
    const names = checker.getExportsOfModule(module).map((exported) => readName(checker, exported, { seen, subpath }));
    return names.sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const api = new Map(entries.map(({ file, subpath }) => [subpath, readModule(file, subpath)]));
  return withImports(api);
}

interface Place {
  readonly seen: Map<ts.Symbol, string>;
  readonly subpath: string;
}

function readName(checker: ts.TypeChecker, exported: ts.Symbol, { seen, subpath }: Place): ApiName {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const seeAt = seen.get(symbol);
  if (seeAt === undefined) seen.set(symbol, subpath);
  const statements = (symbol.declarations ?? []).map((one) =>
    ts.isVariableDeclaration(one) ? one.parent.parent : one,
  );
  const print = (node: ts.Node) => PRINTER.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  const jsDoc = symbol.getJsDocTags(checker);
  const example = jsDoc.find(({ name }) => name === 'example')?.text;
  const tags = jsDoc
    .filter(({ name }) => name !== 'example')
    .map(({ name, text }) => `${name}: ${ts.displayPartsToString(text)}.`);
  return {
    name: exported.name,
    says: [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].filter(Boolean).join(' '),
    declared: statements.map((node) => tidy(node.getText())).join('\n'),
    signature: statements.map((node) => tidy(print(node)).replace(/\s+/g, ' ')).join(' '),
    ...(example && { example: ts.displayPartsToString(example) }),
    ...(seeAt !== undefined && { seeAt }),
  };
}

function withImports(api: Api): Api {
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

const tidy = (text: string) => text.replace(/^export (declare )?/, '');

/** One line for each name of each subpath: what a review looks at. */
export function writeReport(api: Api): string {
  const head =
    'The public names of the package. npm run guides writes this file; a line that changes is a change for users.\n';
  const parts = [...api].map(([subpath, names]) => {
    const lines = names.map(
      ({ name, seeAt, signature }) => `${name}: ${seeAt ? `as in ${seeAt}` : cutSignature(signature)}`,
    );
    return `\n# ${subpath}\n\n${lines.join('\n')}\n`;
  });
  return head + parts.join('');
}

function cutSignature(signature: string): string {
  if (signature.length <= SIGNATURE_CHARS) return signature;
  const hash = createHash('sha256').update(signature).digest('hex').slice(0, 12);
  return `${signature.slice(0, 80)} … ${signature.length} characters, ${hash}`;
}

/** The guide "Every name". */
export function writeApiGuide(api: Api): string {
  const parts = [...api].map(([subpath, names]) => {
    const own = names.filter(({ seeAt }) => seeAt === undefined);
    const others = names.flatMap(({ name, seeAt }) => (seeAt ? [`\`${name}\` of \`${seeAt}\``] : []));
    return [
      `## ${subpath}`,
      ...own.map(writeName),
      ...(others.length ? [`The same names as elsewhere: ${others.join(', ')}.`] : []),
    ].join('\n\n');
  });
  return `# Every name

<!-- The build writes this page from the docstrings. -->

What each subpath exports, as its types have it: units, ranges, defaults and errors stand where they belong. What is called has an example, which
is compiled and run by the tests; \`// →\` is what the line gives. Types and tables have none. Some examples read \`library.pb\`, which \`protoc
--include_imports --descriptor_set_out=library.pb\` has written of the services of a library, and \`hello.flow.json\`:

\`\`\`json hello.flow.json
${HELLO_FLOW}
\`\`\`

${parts.join('\n\n')}
`;
}

function writeName({ name, says, declared, example }: ApiName): string {
  // Long tables stand at /docs/errors and in their modules.
  const most = declared.startsWith('const ') ? SIGNATURE_CHARS : SIGNATURE_CHARS * 2;
  const code = declared.length <= most ? foldComments(declared) : `${declared.slice(0, 200)} …`;
  return `### [${name}](#${name})\n\n${toMarkdown(says)}\n\n\`\`\`ts\n${code}\n\`\`\`${example ? `\n\nExample:\n\n\`\`\`ts\n${example}\n\`\`\`` : ''}`;
}

const COMMENTED_CHARS = 1_400;

// The page has one entry for each name, and a reader loads all of them. What the members of a long type mean stands in the types.
function foldComments(declared: string): string {
  if (declared.length <= COMMENTED_CHARS) return declared;
  return `// Its members are described in the types.\n${declared.replace(/\n *\/\*\*[\s\S]*?\*\//g, '')}`;
}

// Names of constants look like settings in code, which guides may only name when there are such.
function toMarkdown(says: string): string {
  return says
    .replace(/\{@link (\w+)\}/g, '$1')
    .replace(/`([A-Z]+(?:_[A-Z]+)+)`/g, '$1')
    .replace(/<(?=\w)/g, '&lt;')
    .replace(/\s*\n\s*/g, ' ');
}
