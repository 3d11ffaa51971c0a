// Whether the file of a SQLite store is whole: what SQLite says when it meets damage, and what it finds when it looks for it.

import { existsSync } from 'node:fs';
import { damagedError } from '../damage.ts';
import { loadNative } from '../opening.ts';

// A body that is no JSON was not written by us.
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof SyntaxError || /^SQLITE_(CORRUPT|NOTADB)/.test(String(code));
}

/**
 * Reads all pages of the file (`PRAGMA quick_check`), also beside a server that uses it. Throws ERR_STORE, `damaged`, with what is
 * wrong, or what the driver throws, or ERR_CONFIG where SQLite is not installed; a file that is missing is well.
 */
export async function checkSqliteFile(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const { default: Database } = await loadNative('SQLite', () => import('libsql'));
  const db = new Database(path, { readonly: true });
  try {
    const [[verdict]] = db.prepare('PRAGMA quick_check(1)').raw(true).all([]) as [[string]];
    if (verdict !== 'ok') throw damagedError(`SQLite store "${path}"`, verdict.split('\n').at(-1));
  } catch (error) {
    throw isDamage(error) ? damagedError(`SQLite store "${path}"`, error) : error;
  } finally {
    db.close();
  }
}
