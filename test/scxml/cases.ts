// The cases of @scion-scxml/test-framework that XState's own suite runs, and those that cannot pass here, with the reason.

const numbered = (prefix: string, ...numbers: readonly (number | string)[]) => numbers.map((n) => `${prefix}${n}`);

const GROUPS: { readonly [group: string]: readonly string[] } = {
  actionSend: numbered('send', 1, 2, 3, 4, '4b', 7, '7b', 8, '8b', 9),
  'assign-current-small-step': numbered('test', 0, 1, 2, 3, 4),
  basic: numbered('basic', 0, 1, 2),
  'cond-js': ['test0', 'test1', 'test2', 'TestConditionalTransition'],
  'default-initial-state': ['initial1', 'initial2'],
  delayedSend: numbered('send', 1, 2, 3),
  documentOrder: ['documentOrder0'],
  hierarchy: numbered('hier', 0, 1, 2),
  'hierarchy+documentOrder': numbered('test', 0, 1),
  history: numbered('history', 0, 1, 2, 3, 4, '4b', 5, 6),
  'if-else': ['test0'],
  in: ['TestInPredicate'],
  'internal-transitions': numbered('test', 0, 1),
  'more-parallel': numbered('test', 0, 1, 2, '2b', 3, '3b', 4, 5, 6, '6b', 7, 8, 9, 10, '10b'),
  'multiple-events-per-transition': ['test1'],
  parallel: numbered('test', 0, 1, 2, 3),
  'parallel+interrupt': [
    ...numbered('test', 0, 1, 2, 3, 4, 5, 6, 7, '7b', 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, '21b'),
    ...numbered('test', '21c', 22, 23, 24, 25, 27, 28, 29, 30, 31),
  ],
  'targetless-transition': numbered('test', 0, 1, 2, 3),
  'w3c-ecma': [
    ...[144, 147, 148, 149, 158, 172, 173, 174, 175, 176, 185, 186, 187, 189, 190, 191, 192, 193, 200, 201, 205, 208],
    ...[220, 232, 235, 237, 247, 287, 318, 333, 335, 336, 337, 339, 342, 347, 348, 349, 355, 372, 375, 377, 387, 396],
    ...[399, '403a', '403b', '403c', 404, 405, 406, 407, 416, 417, 419, 421, 423, 445, 449, 453, 495, 503, 504, 505],
    ...[560, 570],
  ].map((number) => `test${number}.txml`),
};

/** `group/name` of every case. */
export const CASES = Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => `${group}/${name}`));

const CHILD = 'invokes a child state machine; a conversation calls services, it has no child sessions';

/** The cases that fail, and why. The suite fails when one of them passes. */
export const OUT_OF_REACH: { readonly [name: string]: string } = Object.fromEntries(
  [187, 191, 192, 220, 232, 235, 237, 247, 347].map((number) => [`w3c-ecma/test${number}.txml`, CHILD]),
);
