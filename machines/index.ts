// What `import … from 'twinline/machines'` gives: every lifecycle as a pure statechart, and the vocabulary of menus.

export * from './agent-stream.ts';
export * from './delegation.ts';
export * from './domain-verification.ts';
export type {
  After,
  Condition,
  Data,
  Enter,
  Leave,
  MenuContext,
  MenuEvent,
  MenuImplementations,
  MenuValues,
} from './menu-types.ts';
export * from './proposal.ts';
export * from './run-ends.ts';
export * from './ussd-menu.ts';
