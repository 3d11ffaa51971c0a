// The pages of the reference for authors of menus, in the order in which they are offered.

import type { PageContent } from '../../web/kit/frame.ts';
import { expressions } from './expressions.ts';
import { flowFormat } from './flow-format.ts';
import { type Reference, referencePage } from './frame.ts';
import { services } from './services.ts';
import { testFiles } from './test-files.ts';

export const REFERENCES = { flowFormat, expressions, services, testFiles } as const satisfies {
  readonly [name: string]: Reference;
};

export type ReferenceName = keyof typeof REFERENCES;

export function makeReference(name: ReferenceName): PageContent {
  return referencePage(REFERENCES[name], Object.values(REFERENCES));
}
