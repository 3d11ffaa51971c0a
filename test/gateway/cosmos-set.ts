// The descriptors of a real chain with auth, IBC and CosmWasm.

import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFrom } from '../support/protoc.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.resolve('@protobufs/cosmos/package.json'))));
const PACKAGES = ['cosmos', 'cosmos_proto', 'gogoproto', 'google', 'tendermint', 'amino', 'confio', 'ibc', 'cosmwasm'];

let compiled: Uint8Array | undefined;

/** A FileDescriptorSet of all their files. */
export function cosmosSet(): Uint8Array {
  compiled ??= compileFrom(ROOT, ...PACKAGES.flatMap(protosIn));
  return compiled;
}

function protosIn(name: string): string[] {
  return readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.proto'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
