// What `import … from 'twinline/machines'` gives: every lifecycle as a pure statechart. A lib gives them hands.

export * from './agent-stream.ts';
export * from './delegation.ts';
export * from './domain-verification.ts';
export * from './ussd-menu.ts';
