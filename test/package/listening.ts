// Where a server that a test has started listens.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The address that the server prints. Rejects with what it has printed when it ends before. */
export async function addressIn(child: ChildProcess): Promise<string> {
  let printed = '';
  const found = new Promise<string>((resolve) => {
    const listen = (chunk: Buffer) => {
      printed += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (url) resolve(url);
    };
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}:\n${printed}`);
  });
  return Promise.race([found, ended]);
}
