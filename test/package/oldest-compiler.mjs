// The oldest TypeScript that can read the declarations of the package, as a program: `oldest-compiler.mjs <folder of a tsconfig.json>`
// prints its version and what it says of the project. It is the copy in @ts-morph/common: a second package of the name `typescript`
// would have a second command `tsc`. In JavaScript, for tsx would read all of the compiler first.

import { join } from 'node:path';
import { getLibFiles, getLibFolderPath, ts } from 'typescript-5.4';

const folder = process.argv[2];
const host = ts.createCompilerHost({});
const { getSourceFile, fileExists } = host;
const libFolder = getLibFolderPath({});
const libFiles = new Map(getLibFiles().map(({ fileName, text }) => [`${libFolder}/${fileName}`, text]));
Object.assign(host, {
  getDefaultLibLocation: () => libFolder,
  getDefaultLibFileName: () => `${libFolder}/lib.es2022.full.d.ts`,
  fileExists: (path) => libFiles.has(path) || fileExists(path),
  getSourceFile: (path, options) => {
    const text = libFiles.get(path);
    return text === undefined ? getSourceFile(path, options) : ts.createSourceFile(path, text, options);
  },
});
const read = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
const { fileNames, options, errors } = ts.parseJsonConfigFileContent(read.config, ts.sys, folder);
const found = [...errors, ...ts.getPreEmitDiagnostics(ts.createProgram(fileNames, options, host))];
process.stdout.write(`${ts.version}\n${ts.formatDiagnostics(found, host)}`);
