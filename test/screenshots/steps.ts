// What a suite of tests does before and after, for a program that is none.

import type { Test } from 'uvu';

type Step = () => Promise<unknown> | unknown;

/** A place for what helpers of tests want done before and after; each is done once, in order. */
export function steps(): Pick<Test, 'before' | 'after'> & { readonly begin: Step; readonly end: Step } {
  const first: Step[] = [];
  const last: Step[] = [];
  const each = async (list: readonly Step[]) => {
    for (const step of list) await step();
  };
  return {
    before: Object.assign((step: Step) => void first.push(step), { each: () => {} }) as unknown as Test['before'],
    after: Object.assign((step: Step) => void last.push(step), { each: () => {} }) as unknown as Test['after'],
    begin: () => each(first),
    end: () => each([...last].reverse()),
  };
}
