// A Dockerfile as far as tests follow it without Docker: its stages, what they copy and set, and what they start.

import { join } from 'node:path';
import { basename } from 'node:path/posix';

/** The text of each stage, without its FROM. */
export const stages = (dockerfile: string): string[] => dockerfile.split(/^FROM .*$/m).slice(1);

/** The images that the stages begin with. */
export const baseImages = (dockerfile: string): string[] =>
  [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]!);

export interface Copy {
  readonly from: string;
  readonly to: string;
}

/** The COPY lines of a stage, one source each; paths are those in the working folder /app. */
export function copies(stage: string): Copy[] {
  return [...stage.matchAll(/^COPY (?:--from=\S+ )?(.+) (\S+)$/gm)].flatMap(([, sources, to]) =>
    sources!.split(' ').map((path) => {
      const from = path.replace(/^\/app\//, '');
      return { from, to: to!.endsWith('/') ? join(to!, basename(from)) : to! };
    }),
  );
}

/** What ENV lines set; `folder` stands in the place of /app. */
export function environmentOf(stage: string, folder = '/app'): Record<string, string> {
  const pairs = [...stage.matchAll(/^ENV (.+)$/gm)].flatMap((match) => match[1]!.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.replace('/app', folder).split('=')));
}

/** Program and arguments of the last CMD. */
export const startCommand = (stage: string): string[] =>
  JSON.parse([...stage.matchAll(/^CMD (\[.+\])$/gm)].at(-1)![1]!) as string[];

/** Program and arguments of the health check. */
export const healthCommand = (stage: string): string[] =>
  JSON.parse(/^HEALTHCHECK [\s\S]*?CMD (\[.+\])$/m.exec(stage)![1]!) as string[];
