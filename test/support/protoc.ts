// Descriptor sets for tests, made by protoc from .proto files that tests write or keep among the fixtures.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROTOC = fileURLToPath(import.meta.resolve('protoc/protoc.cjs'));
// Benchmarks run from a build elsewhere, but in the same folder.
const KEPT = join(process.cwd(), 'test/fixtures/protos');

/** Texts of .proto files by name; names that end in `.proto` without a text are those of the fixtures. */
export type ProtoFiles = Readonly<Record<string, string>>;

/** Bytes of a FileDescriptorSet of these files and what they import. */
export function compileProtos(files: ProtoFiles, { imports = true }: { imports?: boolean } = {}): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-protoc-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return run(Object.keys(files), { folders: [folder, KEPT], out: join(folder, 'set.binpb'), imports });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same for files among the fixtures, such as `demo/library.proto`. */
export function compileKept(...names: readonly string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-protoc-'));
  try {
    return run(names, { folders: [KEPT], out: join(folder, 'set.binpb'), imports: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Run {
  readonly folders: readonly string[];
  readonly out: string;
  readonly imports: boolean;
}

function run(names: readonly string[], { folders, out, imports }: Run): Uint8Array {
  const well = join(dirname(PROTOC), 'include');
  const paths = [...folders, well].flatMap((folder) => ['-I', folder]);
  const options = [`--descriptor_set_out=${out}`, ...(imports ? ['--include_imports'] : [])];
  execFileSync(process.execPath, [PROTOC, ...paths, ...options, ...names], { stdio: ['ignore', 'ignore', 'pipe'] });
  return readFileSync(out);
}
