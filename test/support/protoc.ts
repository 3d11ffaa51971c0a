// Descriptor sets for tests, made by protoc from .proto files that tests write or keep among the fixtures.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROTOC = fileURLToPath(import.meta.resolve('protoc/protoc.cjs'));
const WELL_KNOWN = join(dirname(PROTOC), 'include');
// Benchmarks run from a build elsewhere, but in the same folder.
const KEPT = join(process.cwd(), 'test/fixtures/protos');

/** Bytes of a FileDescriptorSet of these .proto files, texts by name, and of what they import, which may be fixtures. */
export function compileProtos(files: Readonly<Record<string, string>>): Uint8Array {
  return compile(Object.keys(files), files);
}

/** The same for files among the fixtures, such as `demo/library.proto`. */
export function compileKept(...names: readonly string[]): Uint8Array {
  return compile(names, {});
}

/** The same for files below another folder. */
export function compileFrom(root: string, ...names: readonly string[]): Uint8Array {
  return compile(names, {}, root);
}

function compile(names: readonly string[], texts: Readonly<Record<string, string>>, root = KEPT): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-protoc-'));
  const set = join(folder, 'set.binpb');
  try {
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const paths = [folder, root, WELL_KNOWN].flatMap((path) => ['-I', path]);
    const options = [`--descriptor_set_out=${set}`, '--include_imports'];
    execFileSync(process.execPath, [PROTOC, ...paths, ...options, ...names], { stdio: ['ignore', 'ignore', 'pipe'] });
    return readFileSync(set);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
