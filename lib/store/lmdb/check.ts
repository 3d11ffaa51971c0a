// Whether the file of an LMDB environment is whole, found out without mapping it: LMDB trusts what it maps, so that a file which was
// cut or overwritten ends the process (SIGBUS, SIGSEGV) instead of failing. Every page that the last transaction reaches is read,
// and must be what its parent says. What values hold is not checked: LMDB keeps no sums of them.
//
// The format is version 2, as in the LMDB that lmdb 3.5 ships: little endian, each page with a header of 24 bytes.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { damagedError } from '../damage.ts';

const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const HEADER = 24;
const META_BYTES = HEADER + 144;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const META = 8;
const PAGE_KINDS = 0x6f;

const NODE = 8;
const BIG_DATA = 1;
const SUB_DATABASE = 2;
/** What a node holds of data that lie in overflow pages. */
const PLACE_BYTES = 24;
const TREE_BYTES = 48;

/** Another process may be writing: then the file is read anew, so often. */
const TRIES = 3;

/** The file is not what LMDB has written. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

/** Reads all pages of the store in the folder `path`. Throws ERR_STORE, `damaged`, or what the system says; none is well. */
export function checkLmdbStore(path: string): void {
  try {
    checkLmdbFile(join(path, 'data.mdb'));
  } catch (error) {
    throw error instanceof DamagedFile ? damagedError(`LMDB store "${path}"`, error) : error;
  }
}

/** Throws {@link DamagedFile} with what is wrong, or what the system says; a file that is missing or empty is well. */
export function checkLmdbFile(path: string): void {
  if (!existsSync(path)) return;
  const fd = openSync(path, 'r');
  try {
    if (fstatSync(fd).size === 0) return;
    for (let tries = 1; ; tries++) {
      const meta = readNewestMeta(fd);
      const failure = findFailure(() => checkPages(fd, meta));
      if (failure === undefined) return;
      if (readNewestMeta(fd).transaction === meta.transaction) throw failure;
      // It is changed faster than it can be read, by a process to which it is well.
      if (tries === TRIES) return;
    }
  } finally {
    closeSync(fd);
  }
}

function findFailure(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A tree of pages, as its parent describes it. */
interface Tree {
  readonly depth: number;
  readonly branches: bigint;
  readonly leaves: bigint;
  readonly overflows: bigint;
  readonly entries: bigint;
  readonly root: bigint;
}

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
  readonly free: Tree;
  readonly main: Tree;
}

function readNewestMeta(fd: number): Meta {
  const first = readMeta(fd, 0);
  const second = readMeta(fd, first.pageBytes);
  if (second.pageBytes !== first.pageBytes) throw new DamagedFile('its first two pages disagree');
  return first.transaction >= second.transaction ? first : second;
}

function readMeta(fd: number, at: number): Meta {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(fd, bytes, 0, META_BYTES, at) < META_BYTES) throw new DamagedFile('it ends within its first two pages');
  const isKnown = bytes.readUInt32LE(HEADER) === MAGIC && bytes.readUInt16LE(HEADER + 4) === FORMAT;
  if (!isKnown || !(bytes.readUInt16LE(18) & META)) throw new DamagedFile(`it is no LMDB file of format ${FORMAT}`);
  const pageBytes = bytes.readUInt32LE(HEADER + 24);
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0)
    throw new DamagedFile(`its pages cannot have ${pageBytes} bytes`);
  return {
    pageBytes,
    free: readTree(bytes, HEADER + 24),
    main: readTree(bytes, HEADER + 72),
    lastPage: bytes.readBigUInt64LE(HEADER + 120),
    transaction: bytes.readBigUInt64LE(HEADER + 128),
  };
}

function readTree(bytes: Buffer, at: number): Tree {
  return {
    depth: bytes.readUInt16LE(at + 6),
    branches: bytes.readBigUInt64LE(at + 8),
    leaves: bytes.readBigUInt64LE(at + 16),
    overflows: bytes.readBigUInt64LE(at + 24),
    entries: bytes.readBigUInt64LE(at + 32),
    root: bytes.readBigUInt64LE(at + 40),
  };
}

/** Reads `count` pages that nothing else has reached. */
type ReadPages = (page: bigint, count: bigint) => Buffer;

function checkPages(fd: number, meta: Meta): void {
  const { pageBytes, lastPage } = meta;
  const pages = BigInt(Math.floor(fstatSync(fd).size / pageBytes));
  const pagesInUse = new Uint8Array(Number(pages));
  const take = (page: bigint, count: bigint) => {
    if (page < 2n || page + count - 1n > lastPage) throw new DamagedFile(`there can be no page ${page}`);
    const end = Math.min(Number(page + count), pagesInUse.length);
    for (let at = Number(page); at < end; at++) {
      if (pagesInUse[at]) throw new DamagedFile(`page ${at} is used twice`);
      pagesInUse[at] = 1;
    }
  };
  const read = (page: bigint, count: bigint) => {
    take(page, count);
    if (page + count > pages) throw new DamagedFile(`page ${page + count - 1n} lies behind the end of the file`);
    const bytes = Buffer.allocUnsafe(Number(count) * pageBytes);
    const length = readSync(fd, bytes, 0, bytes.length, Number(page) * pageBytes);
    if (length < bytes.length || bytes.readBigUInt64LE(0) !== page)
      throw new DamagedFile(`what stands at page ${page} is another one`);
    return bytes;
  };
  const onTable = (tree: Tree) => checkTree(tree, read, { ...PLAIN, onTable: refuseTable });
  checkTree(meta.main, read, { ...PLAIN, onTable });
  // What it lists is written over: it may be nothing that is used. Pages at the end that are free may not be there.
  checkTree(meta.free, read, { compare: compareNumbers, onTable: refuseTable, onData: (list) => takeFree(list, take) });
}

interface TreeRules {
  /** Of two keys; above 0 when they are out of order. */
  readonly compare: (one: Buffer, other: Buffer) => number;
  readonly onTable: (tree: Tree) => void;
  readonly onData: (data: Buffer) => void;
}

const compareBytes: TreeRules['compare'] = (one, other) => one.compare(other);

const PLAIN = { compare: compareBytes, onData: () => {} };

const compareNumbers: TreeRules['compare'] = (one, other) => {
  if (one.length !== 8 || other.length !== 8) throw new DamagedFile('the list of free pages has a wrong key');
  return one.readBigUInt64LE() < other.readBigUInt64LE() ? -1 : 1;
};

function refuseTable(): never {
  throw new DamagedFile('a table lies within a table');
}

/** A list of pages: how many numbers it has, then a page each; in the place of a run its length below 0, then its first page. */
function takeFree(list: Buffer, take: (page: bigint, count: bigint) => void): void {
  const length = list.length < 8 ? -1n : list.readBigUInt64LE(0);
  if (length < 0n || length > BigInt(list.length / 8 - 1)) throw new DamagedFile('a list of free pages is broken');
  const numbers = Array.from({ length: Number(length) }, (_, at) => list.readBigInt64LE(8 + at * 8));
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at]!;
    if (number > 0n) take(number, 1n);
    else if (number < 0n) take(numbers[++at] ?? 0n, -number);
  }
}

function checkTree(tree: Tree, readPages: ReadPages, { compare, onTable, onData }: TreeRules): void {
  if (tree.root === NO_PAGE) return;
  const counts = { branches: 0n, leaves: 0n, overflows: 0n, entries: 0n };
  const open: [page: bigint, depth: number][] = [[tree.root, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [page, depth] = next;
    const bytes = readPages(page, 1n);
    const kind = bytes.readUInt16LE(18) & PAGE_KINDS;
    if (kind !== (depth === tree.depth ? LEAF : BRANCH)) throw new DamagedFile(`page ${page} is of a wrong kind`);
    const nodes = listNodes(bytes, { page, kind, compare });
    if (kind === BRANCH) {
      counts.branches++;
      for (const node of nodes) open.push([readChild(bytes, node), depth + 1]);
      continue;
    }
    counts.leaves++;
    counts.entries += BigInt(nodes.length);
    for (const node of nodes) {
      const flags = bytes.readUInt16LE(node + 4);
      const data = node + NODE + bytes.readUInt16LE(node + 6);
      const size = bytes.readUInt32LE(node);
      if (flags & SUB_DATABASE) onTable(readTree(bytes, data));
      else if (flags & BIG_DATA) {
        const overflow = readOverflow(readPages, { page: bytes.readBigUInt64LE(data), size, pageBytes: bytes.length });
        counts.overflows += BigInt(overflow.length / bytes.length);
        onData(overflow.subarray(HEADER, HEADER + size));
      } else onData(bytes.subarray(data, data + size));
    }
  }
  for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const)
    if (counts[what] !== tree[what]) throw new DamagedFile(`a table has ${counts[what]} ${what}, not ${tree[what]}`);
}

function readChild(bytes: Buffer, node: number): bigint {
  return BigInt(bytes.readUInt32LE(node)) | (BigInt(bytes.readUInt16LE(node + 4)) << 32n);
}

/** Where the nodes of a page begin. Each lies within the page, and their keys are in order. */
function listNodes(
  bytes: Buffer,
  { page, kind, compare }: Pick<TreeRules, 'compare'> & { readonly page: bigint; readonly kind: number },
): number[] {
  const [lower, upper, end] = [bytes.readUInt16LE(20), bytes.readUInt16LE(22), bytes.length - HEADER];
  if (lower === 0 || lower % 2 !== 0 || lower > upper || upper > end) throw new DamagedFile(`page ${page} is broken`);
  const nodes: number[] = [];
  let before: Buffer | undefined;
  for (let at = HEADER; at < HEADER + lower; at += 2) {
    const place = bytes.readUInt16LE(at);
    const node = HEADER + place;
    if (place < upper || place + NODE > end) throw new DamagedFile(`page ${page} is broken`);
    const keyEnd = node + NODE + bytes.readUInt16LE(node + 6);
    if (keyEnd + dataBytes(bytes, node, kind) > bytes.length) throw new DamagedFile(`page ${page} is broken`);
    const key = bytes.subarray(node + NODE, keyEnd);
    if (before && compare(before, key) >= 0) throw new DamagedFile(`the keys of page ${page} are not in order`);
    // The first key of a branch stands for all that are smaller.
    before = kind === BRANCH && at === HEADER ? undefined : key;
    nodes.push(node);
  }
  return nodes;
}

function dataBytes(bytes: Buffer, node: number, kind: number): number {
  if (kind === BRANCH) return 0;
  const flags = bytes.readUInt16LE(node + 4);
  if (flags & BIG_DATA) return PLACE_BYTES;
  const size = bytes.readUInt32LE(node);
  return flags & SUB_DATABASE ? Math.max(size, TREE_BYTES) : size;
}

interface Overflow {
  readonly page: bigint;
  readonly size: number;
  readonly pageBytes: number;
}

function readOverflow(readPages: ReadPages, { page, size, pageBytes }: Overflow): Buffer {
  const count = Math.floor((HEADER - 1 + size) / pageBytes) + 1;
  const bytes = readPages(page, BigInt(count));
  if ((bytes.readUInt16LE(18) & PAGE_KINDS) !== OVERFLOW || bytes.readUInt32LE(20) !== count)
    throw new DamagedFile(`page ${page} does not hold what it should`);
  return bytes;
}
